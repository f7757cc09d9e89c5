import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { PLAIN_JSON } from '../../shared/api/plain-json.ts';
import { writeJson, type JsonText } from '../../shared/body/json.ts';

/** What an operation answers. */
export interface Answer {
  readonly status: number;
  /** Written as JSON; members that are undefined are left out. */
  readonly body: unknown;
  /** The body, where it is written already. @default that of `body` */
  readonly json?: JsonText;
  /** @default application/json */
  readonly contentType?: string;
  /** Seconds after which the request should be repeated. @default no such header */
  readonly retryAfter?: number | undefined;
  /** How the writes of this request ended, for the counters. */
  readonly outcomes?: readonly string[];
}

/** An answer in the gateway's form. Every one carries the request id, and ends its line, for those who look at it in a terminal. */
export function gatewayResult(answer: Answer, requestId: string): APIGatewayProxyStructuredResultV2 {
  const { text, isPlain } = answer.json ?? writeJson(answer.body);
  return {
    statusCode: answer.status,
    headers: {
      'content-type': answer.contentType ?? 'application/json',
      'x-request-id': requestId,
      ...(isPlain && PLAIN_JSON),
      ...(answer.retryAfter === undefined ? {} : { 'retry-after': String(answer.retryAfter) }),
    },
    body: `${text}\n`,
    isBase64Encoded: false,
  };
}
