import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { PLAIN_JSON } from '../../shared/api/plain-json.ts';
import { MESSAGE_PACK } from '../../shared/api/message-pack.ts';
import { writeJson, type JsonText } from '../../shared/body/json.ts';
import { writeMessagePack } from '../../shared/body/write-message-pack.ts';
import { itemError } from '../../shared/api/item-error.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { qualityOf } from './request.ts';

export interface Answer {
  readonly status: number;
  /** Written as JSON, without undefined members. */
  readonly body?: unknown;
  /** The encoded body. @default that of `body` */
  readonly json?: JsonText;
  /** True: MessagePack if possible. False: JSON, although the route also has MessagePack. @default JSON only */
  readonly packed?: boolean;
  /** The body in the gateway's form. @default that of `json` */
  readonly made?: MadeBody;
  /** Headers in addition to those of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** @default application/json */
  readonly contentType?: string;
  /** The seconds after which the client should retry. */
  readonly retryAfter?: number | undefined;
  /** The outcomes of this request's writes, for the counters. */
  readonly outcomes?: readonly string[];
}

/** A body in the gateway's form. */
type MadeBody = Required<Pick<APIGatewayProxyStructuredResultV2, 'body' | 'isBase64Encoded'>>;

/** The most bytes of a function's whole answer as JSON: 6 MB. */
const PAYLOAD_BYTES = 6_000_000;
/**
 * A body is a string in that JSON, where quotes and backslashes take two bytes. A body that might not fit is sent in
 * base64, which needs no escapes and has a known size: `LIMITS.answerBytes` make 5.6 MB.
 */
const AS_TEXT_BYTES = PAYLOAD_BYTES / 2 - 10_000;
/** The most bytes of a body that fit into a payload as base64, next to the headers. */
const AS_BYTES = Math.floor(((PAYLOAD_BYTES - 10_000) / 4) * 3);
/** UTF-8 takes three bytes for a UTF-16 unit at most. */
const MOST_BYTES = 3;

/** Returns an answer in the gateway's form. Each has the request id. */
export function gatewayResult(answer: Answer, requestId: string): APIGatewayProxyStructuredResultV2 {
  const { type, isPlain, made } = writtenBody(answer);
  return {
    statusCode: answer.status,
    headers: {
      'content-type': type,
      'x-request-id': requestId,
      ...(isPlain && PLAIN_JSON),
      ...(answer.retryAfter === undefined ? {} : { 'retry-after': String(answer.retryAfter) }),
      ...(answer.packed !== undefined && VARY),
      ...answer.headers,
    },
    ...made,
  };
}

const VARY = { vary: 'accept' };

interface Written {
  readonly type: string;
  /** `JSON.parse` reads it exactly. */
  readonly isPlain: boolean;
  readonly made: MadeBody;
}

function writtenBody(answer: Answer): Written {
  const { contentType = 'application/json', made } = answer;
  if (made) return { type: contentType, isPlain: false, made };
  const packed = answer.packed === true ? inMessagePack(answer.body) : undefined;
  return packed ? { type: MESSAGE_PACK, isPlain: false, made: packed } : { type: contentType, ...inJson(answer) };
}

/** Returns undefined for a value that only JSON can encode, or a longer one: 0.5 takes nine bytes, three in JSON. */
function inMessagePack(value: unknown): MadeBody | undefined {
  const bytes = writeMessagePack(value);
  return bytes === undefined || bytes.length > AS_BYTES
    ? undefined
    : { body: bytes.toString('base64'), isBase64Encoded: true };
}

/** Ends with a line break, for terminals. */
function inJson({ json, body: value }: Answer): Omit<Written, 'type'> {
  const { text, isPlain } = json ?? writeJson(value);
  const body = `${text}\n`;
  const isLong = body.length * MOST_BYTES > AS_TEXT_BYTES && Buffer.byteLength(body) > AS_TEXT_BYTES;
  return {
    isPlain,
    made: { body: isLong ? Buffer.from(body).toString('base64') : body, isBase64Encoded: isLong },
  };
}

/** A smaller body takes few packets, and is sent faster uncompressed. */
const COMPRESSED_FROM_BYTES = 8192;
/** The lowest level leaves a tenth of JSON. Other levels leave little less, and take several times as long. */
const LEVEL = constants.Z_BEST_SPEED;

const compress = promisify(gzip);

/** Compresses JSON of some length for a client that takes gzip. MessagePack goes as it is, for speed. */
export async function compressed(
  result: APIGatewayProxyStructuredResultV2,
  acceptEncoding: string | undefined,
): Promise<APIGatewayProxyStructuredResultV2> {
  const { body = '', headers = {}, isBase64Encoded = false } = result;
  // The operation has already chosen between two encodings.
  const isChosen = String(headers['vary']).includes('accept-encoding');
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/u.test(String(headers['content-type']));
  if (!isJson || isChosen || body.length < COMPRESSED_FROM_BYTES) return result;
  const vary = { vary: headers['vary'] === undefined ? 'accept-encoding' : `${headers['vary']}, accept-encoding` };
  if (qualityOf(acceptEncoding, 'gzip') === 0) return { ...result, headers: { ...headers, ...vary } };
  const bytes = await compress(isBase64Encoded ? Buffer.from(body, 'base64') : body, { level: LEVEL });
  return {
    ...result,
    headers: { ...headers, ...vary, 'content-encoding': 'gzip' },
    body: bytes.toString('base64'),
    isBase64Encoded: true,
  };
}

/** Returns an answer's items with each `error` member in the API's form. */
export function shownItems(items: readonly unknown[]): readonly unknown[] {
  return items.map((item) => {
    if (typeof item !== 'object' || item === null || !('error' in item) || !(item.error instanceof SchemalessError))
      return item;
    return { ...item, error: itemError(item.error) };
  });
}
