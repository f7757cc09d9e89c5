import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { MESSAGE_PACK } from '../../shared/api/message-pack.ts';
import { parseJson } from '../../shared/body/json.ts';
import { LIMITS, type Json } from '../../shared/cell.ts';
import { missingField, SchemalessError, invalidField, unknownField } from '../../shared/errors.ts';
import type { AnswerRoom } from '../../shared/contract/answer-room.ts';
import { requestIdOf } from '../environment/log.ts';

/** A request as the operations see it. Nothing is read before an operation asks for it. */
export interface HttpRequest {
  /** The request id: the caller's own, or the gateway's. */
  readonly id: string;
  /** Whether it had to be signed. */
  readonly isSigned: boolean;
  /** Who signed it, as IAM names them; `anybody` where it had not to be signed. */
  readonly caller: string;
  /** What is left of an answer that this one is a part of. @default undefined: it is alone */
  readonly room?: AnswerRoom;
  /** The answer may go in MessagePack, so that bodies need not be read. */
  readonly packed: boolean;
  /** A header, by its name in lower case. */
  header(name: string): string | undefined;
  /**
   * A parameter of the route's path, decoded. Throws `missing_field`, `invalid_field`. `absent`: stands for one that is
   * empty @default it throws.
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
  // The gateway says who signed a request, where it asks for that.
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
  /** As a rule of a role with the name of its session. */
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

/** Whether an answer goes in MessagePack: where `Accept` names it, and does not name JSON before it. */
function wantsMessagePack(accept: string | undefined): boolean {
  if (accept === undefined || !/msgpack/i.test(accept)) return false;
  const quality = qualityOf(accept, MESSAGE_PACK);
  return quality > 0 && quality >= qualityOf(accept, 'application/json');
}

// A byte order mark is kept, for the parser to refuse.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses the body of a request as JSON, nested to a depth. Throws `request_too_large`, `missing_field`, `invalid_json`. */
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

/** A parameter's value. One with `%` was encoded twice: rights were judged for another path. */
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
  /** These may come once. */
  readonly once?: readonly string[];
  readonly repeated?: readonly string[];
  /** Those of any other name may come, and be repeated. @default false */
  readonly others?: boolean;
}

/** The query parameters of one request, checked against the names that its route takes. */
interface Query {
  /** The parameters of names that the route does not list, in the order in which they came first. */
  readonly others: ReadonlyMap<string, readonly string[]>;
  /** Every value of a parameter, in order; undefined when it does not come at all. */
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

/** Unlike URLSearchParams, refuses what is not UTF-8 instead of replacing it by another character. */
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
