import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { MESSAGE_PACK } from '../../shared/api/message-pack.ts';
import { parseJson } from '../../shared/body/json.ts';
import { LIMITS, type Json } from '../../shared/cell.ts';
import { missingField, SchemalessError, invalidField, unknownField, wrongField } from '../../shared/errors.ts';
import type { AnswerRoom } from '../../shared/contract/answer-room.ts';
import { requestIdOf } from '../environment/log.ts';

/** A request as the operations see it. Its parts are parsed on demand. */
export interface HttpRequest {
  /** The request id: the caller's own, or the gateway's. */
  readonly id: string;
  /** Whether the route requires a signature. */
  readonly isSigned: boolean;
  /** The signer's name in IAM; `anybody` if the route requires no signature. */
  readonly caller: string;
  /** The room left in the answer that contains this one. @default undefined: no other contains it */
  readonly room?: AnswerRoom;
  /** Whether the answer may be MessagePack, which needs no parsing of bodies. */
  readonly packed: boolean;
  /** Returns a header by its name in lower case. */
  header(name: string): string | undefined;
  /**
   * Returns a decoded parameter of the route's path. Throws `missing_field`, `invalid_field`. `absent`: the value of an
   * empty parameter @default it throws.
   */
  path(name: string, absent?: string): string;
  /** Returns the query parameters, and allows only these. Throws `unknown_field`, `invalid_field`. */
  query(names?: QueryNames): Query;
  /** Whether the request has a body. */
  readonly hasBody: boolean;
  /**
   * Returns the body. `depth`: the deepest nesting. Throws `missing_field`, `invalid_json`, `request_too_large`,
   * `unsupported_encoding`.
   */
  json(depth?: number): Json;
}

export function httpRequest(event: APIGatewayProxyEventV2): HttpRequest {
  // The gateway names the signer on routes that require a signature.
  const { authorizer: { iam } = {} } = event.requestContext as { readonly authorizer?: { readonly iam?: Signer } };
  return {
    id: requestIdOf(event),
    isSigned: iam !== undefined,
    caller: iam?.userArn ?? iam?.userId ?? 'anybody',
    packed: wantsMessagePack(event.headers?.['accept']),
    header: (name) => event.headers?.[name],
    path: (name, absent) => pathValue(event.pathParameters?.[name], name, absent),
    query: (names = {}) => readQuery(event.rawQueryString, names),
    hasBody: (event.body ?? '') !== '',
    json: (depth) => readJsonBody(event, depth),
  };
}

interface Signer {
  /** Usually of a role, with the name of its session. */
  readonly userArn?: string;
  readonly userId?: string;
}

/** Returns how much a header such as `Accept` wants a name in lower case, 0 to 1. Wildcards count for nothing. */
export function qualityOf(header: string | undefined, wanted: string): number {
  let most = 0;
  for (const part of header?.split(',') ?? []) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    if (name !== wanted) continue;
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    most = Math.max(most, quality === undefined ? 1 : Number(quality.slice(2)) || 0);
  }
  return most;
}

/** Returns whether `Accept` names MessagePack, and does not prefer JSON. */
function wantsMessagePack(accept: string | undefined): boolean {
  if (accept === undefined || !/msgpack/i.test(accept)) return false;
  const quality = qualityOf(accept, MESSAGE_PACK);
  return quality > 0 && quality >= qualityOf(accept, 'application/json');
}

/** The one content encoding of requests. */
const IDENTITY = 'identity';

// Keeps a byte order mark, which the parser refuses.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses a body as JSON, nested to a depth. Throws the errors of `HttpRequest.json`. */
function readJsonBody(
  event: Pick<APIGatewayProxyEventV2, 'body' | 'headers' | 'isBase64Encoded'>,
  depth: number = LIMITS.bodyDepth,
): Json {
  const { body = '', headers, isBase64Encoded } = event;
  const encoding = headers?.['content-encoding'] ?? IDENTITY;
  if (encoding.toLowerCase() !== IDENTITY)
    throw wrongField('content-encoding', `none, or ${IDENTITY}`, encoding, 'unsupported_encoding');
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

/** Returns a parameter's value. Refuses `%`, which was encoded twice: IAM checked rights for another path. */
export function pathValue(value: string | undefined, name: string, absent?: string): string {
  if (value === undefined || value === '') {
    if (absent !== undefined) return absent;
    throw missingField(name, 'a part of the path');
  }
  if (value.includes('%')) throw invalidField(name, 'no % in what is decoded once', value);
  return value;
}

/** The names of query parameters that a route takes. */
export interface QueryNames {
  /** Parameters that may come once. */
  readonly once?: readonly string[];
  readonly repeated?: readonly string[];
  /** Whether others may come, and be repeated. @default false */
  readonly others?: boolean;
}

/** The query parameters of one request, checked against the names that its route takes. */
interface Query {
  /** The parameters that the route does not list, in the order of their first occurrence. */
  readonly others: ReadonlyMap<string, readonly string[]>;
  /** Returns every value of a parameter, in order; undefined if it does not occur. */
  texts(name: string): readonly string[] | undefined;
}

/** Reads the raw query, since the gateway's map joins values. Throws `unknown_field`, `invalid_field`. */
export function readQuery(rawQueryString: string, names: QueryNames): Query {
  const { once = [], repeated = [], others = false } = names;
  const known = [...once, ...repeated];
  const values = new Map<string, string[]>();
  for (const [name, value] of pairs(rawQueryString)) {
    if (!others && !known.includes(name)) throw unknownField(name, known);
    const before = values.get(name);
    if (before === undefined) values.set(name, [value]);
    else if (once.includes(name)) throw invalidField(name, 'one value', `${before[0]}, then ${value}`);
    else before.push(value);
  }
  return {
    others: others ? new Map([...values].filter(([name]) => !known.includes(name))) : NONE,
    texts: (name) => values.get(name),
  };
}

const NONE: ReadonlyMap<string, readonly string[]> = new Map();

/** Unlike URLSearchParams, refuses bytes that are not UTF-8 instead of replacing them. */
function* pairs(rawQueryString: string): Generator<readonly [string, string]> {
  for (const pair of rawQueryString.split('&')) {
    if (pair === '') continue;
    const end = pair.indexOf('=');
    const name = decodePercent(spaced(end < 0 ? pair : pair.slice(0, end)), 'query');
    yield [name, end < 0 ? '' : decodePercent(spaced(pair.slice(end + 1)), name)];
  }
}

const spaced = (text: string): string => text.replaceAll('+', ' ');

/** Throws `invalid_field`. */
export function decodePercent(text: string, field: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidField(field, 'percent-encoded UTF-8', text);
  }
}
