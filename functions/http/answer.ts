import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { PLAIN_JSON } from '../../shared/api/plain-json.ts';
import { writeJson, type JsonText } from '../../shared/body/json.ts';

/** What an operation answers. */
export interface Answer {
  readonly status: number;
  /** Written as JSON; members that are undefined are left out. */
  readonly body?: unknown;
  /** The body, where it is written already. @default that of `body` */
  readonly json?: JsonText;
  /** The same, in the gateway's form. @default that of `json` */
  readonly made?: MadeBody;
  /** Besides those that every answer has. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /** @default application/json */
  readonly contentType?: string;
  /** Seconds after which the request should be repeated. @default no such header */
  readonly retryAfter?: number | undefined;
  /** How the writes of this request ended, for the counters. */
  readonly outcomes?: readonly string[];
}

/** A body as the gateway takes it. */
export type MadeBody = Required<Pick<APIGatewayProxyStructuredResultV2, 'body' | 'isBase64Encoded'>>;

/** What a function's whole answer may take as JSON: 6 MB. */
const PAYLOAD_BYTES = 6_000_000;
/**
 * A body is a string in that JSON, which takes twice the bytes where it is all quotes and backslashes. One that might
 * not fit is sent in base64, of which nothing is escaped and whose size is known: `LIMITS.answerBytes` make 5.6 MB.
 */
const AS_TEXT_BYTES = PAYLOAD_BYTES / 2 - 10_000;
/** UTF-8 takes three bytes for a UTF-16 unit at most. */
const MOST_BYTES = 3;

/** An answer in the gateway's form. Every one carries the request id. */
export function gatewayResult(answer: Answer, requestId: string): APIGatewayProxyStructuredResultV2 {
  const { isPlain, made } = answer.made ? { isPlain: false, made: answer.made } : inJson(answer);
  return {
    statusCode: answer.status,
    headers: {
      'content-type': answer.contentType ?? 'application/json',
      'x-request-id': requestId,
      ...(isPlain && PLAIN_JSON),
      ...(answer.retryAfter === undefined ? {} : { 'retry-after': String(answer.retryAfter) }),
      ...answer.headers,
    },
    ...made,
  };
}

/** It ends its line, for those who look at it in a terminal. */
function inJson({ json, body: value }: Answer): { readonly isPlain: boolean; readonly made: MadeBody } {
  const { text, isPlain } = json ?? writeJson(value);
  const body = `${text}\n`;
  const isLong = body.length * MOST_BYTES > AS_TEXT_BYTES && Buffer.byteLength(body) > AS_TEXT_BYTES;
  return {
    isPlain,
    made: { body: isLong ? Buffer.from(body).toString('base64') : body, isBase64Encoded: isLong },
  };
}
