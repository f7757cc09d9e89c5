import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { MESSAGE_PACK_NAMES } from '../../shared/api/message-pack.ts';
import { parseJson } from '../../shared/body/json.ts';
import { LIMITS, type Json } from '../../shared/cell.ts';
import { missingField, SchemalessError } from '../../shared/errors.ts';
import type { AnswerRoom } from '../../shared/contract/answer-room.ts';
import { requestIdOf } from '../environment/request-ids.ts';
import { pathValue, readQuery, type Query, type QueryNames } from './parameters.ts';

/** A request as the operations see it. Nothing is read before an operation asks for it. */
export interface HttpRequest {
  /** The request id: the caller's own, or the gateway's. */
  readonly id: string;
  /** Whether it had to be signed. */
  readonly isSigned: boolean;
  /** Who signed it, as IAM names them; `anybody` where it had not to be signed. */
  readonly caller: string;
  /**
   * What is left of the answer, where it came among others in one request whose answers go back with its own. @default
   * undefined: it came alone
   */
  readonly room?: AnswerRoom;
  /** The answer may go in MessagePack, so that bodies need not be read. */
  readonly packed: boolean;
  /** A header, by its name in lower case. */
  header(name: string): string | undefined;
  /**
   * A parameter of the route's path, decoded. Throws `missing_field`, `invalid_field`.
   *
   * @param absent stands for one that is empty @default it throws
   */
  path(name: string, absent?: string): string;
  /** The query parameters, of which these may come. Throws `unknown_field`, `invalid_field`. */
  query(names?: QueryNames): Query;
  /** Whether a body came at all. */
  readonly hasBody: boolean;
  /** The request body. `depth` is the deepest nesting. Throws `missing_field`, `invalid_json`, `request_too_large`. */
  json(depth?: number): Json;
}

export function httpRequest(event: APIGatewayProxyEventV2): HttpRequest {
  return {
    id: requestIdOf(event),
    isSigned: isSigned(event),
    caller: callerOf(event),
    packed: wantsMessagePack(event.headers?.['accept']),
    header: (name) => event.headers?.[name],
    path: (name, absent) => pathValue(event.pathParameters?.[name], name, absent),
    query: (names = {}) => readQuery(event.rawQueryString, names),
    hasBody: (event.body ?? '') !== '',
    json: (depth) => readJsonBody(event, depth),
  };
}

/** The gateway says who signed a request, where it asks for that. */
function isSigned({ requestContext }: APIGatewayProxyEventV2): boolean {
  const { authorizer } = requestContext as { readonly authorizer?: { readonly iam?: unknown } };
  return authorizer?.iam !== undefined;
}

/** An ARN, as a rule: of a role with the name of its session. */
function callerOf({ requestContext }: APIGatewayProxyEventV2): string {
  const { authorizer } = requestContext as {
    readonly authorizer?: { readonly iam?: { readonly userArn?: string; readonly userId?: string } };
  };
  return authorizer?.iam?.userArn ?? authorizer?.iam?.userId ?? 'anybody';
}

/**
 * How much a header such as `Accept` wants one of these names, 0 to 1. Wildcards count for nothing: who is sent
 * something out of the ordinary has to have named it.
 *
 * @param header undefined where there is none
 * @param names in lower case
 */
export function qualityOf(header: string | undefined, names: readonly string[]): number {
  let most = 0;
  for (const part of header?.split(',') ?? []) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    if (!names.includes(name)) continue;
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    most = Math.max(most, quality === undefined ? 1 : Number(quality.slice(2)) || 0);
  }
  return most;
}

/** Whether an answer goes in MessagePack: where `Accept` names it, and does not name JSON before it. */
function wantsMessagePack(accept: string | undefined): boolean {
  if (accept === undefined || !/msgpack/i.test(accept)) return false;
  const quality = qualityOf(accept, MESSAGE_PACK_NAMES);
  return quality > 0 && quality >= qualityOf(accept, ['application/json']);
}

/** Whether `If-None-Match` names what would be answered. */
export function namesTag(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, ''))) === true;
}

// A byte order mark is kept, for the parser to refuse.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The body of a request, as JSON.
 *
 * @param depth deepest nesting of arrays and objects; LIMITS.bodyDepth when left out
 * @throws SchemalessError `request_too_large`, `missing_field`, `invalid_json`
 */
function readJsonBody(
  event: Pick<APIGatewayProxyEventV2, 'body' | 'isBase64Encoded'>,
  depth: number = LIMITS.bodyDepth,
): Json {
  const { body = '', isBase64Encoded } = event;
  // Base64 takes four characters for three bytes: an estimate that is never too high, so nothing huge is decoded.
  const leastBytes = isBase64Encoded ? Math.floor(body.length / 4) * 3 - 2 : Buffer.byteLength(body);
  if (leastBytes > LIMITS.requestBytes) throw requestTooLarge(leastBytes);
  const text = isBase64Encoded ? decode(Buffer.from(body, 'base64')) : body;
  if (text === '') throw missingField('body', 'one JSON value');
  return parseJson(text, { maxDepth: depth });
}

function decode(bytes: Uint8Array): string {
  if (bytes.length > LIMITS.requestBytes) throw requestTooLarge(bytes.length);
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    const wanted = 'JSON in UTF-8';
    const got = 'bytes that are not UTF-8';
    throw new SchemalessError('invalid_json', `body: wanted ${wanted}, got ${got}`, {
      field: 'body',
      wanted,
      got,
      cause,
    });
  }
}

function requestTooLarge(bytes: number): SchemalessError {
  const wanted = `at most ${LIMITS.requestBytes} bytes`;
  const got = `${bytes} bytes`;
  return new SchemalessError('request_too_large', `body: wanted ${wanted}, got ${got}`, { field: 'body', wanted, got });
}
