import type { OutgoingHttpHeaders } from 'node:http';
import { textOf, wholeText, type FunctionResult } from '../lambda/function-result.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Uint8Array;
}

/** The gateway's own answers are not problem+json, as in the cloud. */
export function gatewayAnswer(status: number, message: string): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ message }) };
}

interface FunctionAnswer {
  readonly statusCode?: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly cookies?: readonly string[];
  readonly body?: unknown;
  readonly isBase64Encoded?: boolean;
}

/** Converts a function's result in payload format 2.0. */
export function httpAnswer(result: FunctionResult): HttpAnswer {
  const answer: unknown = JSON.parse(result.text);
  if (!isFunctionAnswer(answer))
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: typeof answer === 'string' ? answer : wholeText(result),
    };
  const status = Number(answer.statusCode);
  if (!Number.isInteger(status) || status < 100 || status > 599) return gatewayAnswer(500, 'Internal Server Error');
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(answer.headers ?? {})) headers[name.toLowerCase()] = String(value);
  headers['content-type'] ??= 'text/plain; charset=utf-8';
  if (answer.cookies !== undefined) headers['set-cookie'] = [...answer.cookies];
  const body =
    result.body ??
    (typeof answer.body === 'string' ? answer.body : answer.body === undefined ? '' : JSON.stringify(answer.body));
  return {
    status,
    headers,
    body: answer.isBase64Encoded === true && result.decoded !== true ? Buffer.from(textOf(body), 'base64') : body,
  };
}

/** A result without a status code is the body of a 200. */
function isFunctionAnswer(answer: unknown): answer is FunctionAnswer {
  return typeof answer === 'object' && answer !== null && 'statusCode' in answer;
}
