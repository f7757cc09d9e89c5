import { setTimeout as wait } from 'node:timers/promises';
import { isMessagePack, MESSAGE_PACK } from '../api/message-pack.ts';
import { parseJson, stringifyJson } from '../body/json.ts';
import { readMessagePack } from '../body/read-message-pack.ts';
import { LIMITS, type Json } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import type { Attempt, Reply } from './attempt.ts';
import { exchangeByFetch } from './exchange-by-fetch.ts';
import { exchangeByHttp } from './exchange-by-http.ts';
import type { Exchange, Incoming, Outgoing } from './exchange.ts';
import type { ClientOptions } from './options.ts';
import { pauseMs } from './pause.ts';
import { joinReads, type BatchRoute } from './join-reads.ts';
import { errorOf, isJsonObject } from './problem.ts';
import { RETRY_SHARE, retryBudget } from './retry-budget.ts';

export interface Call {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Parts of the path after the datastore; each is encoded. */
  readonly path: readonly (string | number)[];
  /** Those that are undefined are left out; a list is repeated. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  readonly body?: unknown;
  /** Which route answers many of these at once. @default none does */
  readonly joins?: BatchRoute;
}

/** Sends a call until it is answered, and returns the answer. Throws SchemalessError. */
export type Connection = (call: Call) => Promise<Reply>;

/**
 * What an answer puts around a cell's body at most: many answers, their list, the one, its body, a list, an entry, its
 * cells, the cell.
 */
const DEPTH_AROUND = 9;
const TIMEOUT_MS = 31_000;
const ATTEMPTS = 5;
const ACCEPT_JSON = { accept: 'application/json' };
const ACCEPT_MESSAGE_PACK = { accept: `${MESSAGE_PACK}, application/json;q=0.9` };
const OF_BODY = { 'content-type': 'application/json' };

/** Every request of the API can be repeated safely, so that each is, while there is hope. */
export function connect(options: ClientOptions): Connection {
  const { origin, pathname } = new URL(options.url);
  const base = `${pathname.replace(/\/+$/, '')}/v1/${encodeURIComponent(options.datastore)}`;
  const most = options.attempts ?? ATTEMPTS;
  const { retryBudget: wished = RETRY_SHARE } = options;
  const budget = typeof wished === 'object' ? wished : retryBudget(wished);
  const { sign, timeoutMs = TIMEOUT_MS, signal } = options;
  const exchange = options.fetch ? exchangeByFetch(options.fetch, origin, signal) : exchangeByHttp(origin, signal);
  const accept = options.messagePack === false ? ACCEPT_JSON : ACCEPT_MESSAGE_PACK;
  const sender: Sender = { exchange, origin, sign, timeoutMs, headers: { ...accept, ...OF_BODY }, bare: accept };
  const alone = (target: string): Promise<Attempt> =>
    tryOnce(sender, { method: 'GET', target: `${base}/${target}`, body: undefined });
  const together = (route: BatchRoute, targets: readonly string[]): Promise<Attempt> =>
    tryOnce(sender, { method: 'POST', target: `${base}/${route}`, body: stringifyJson({ targets }) });
  const join = options.joinReads === false ? undefined : joinReads({ together, alone, attemptOf });
  return async ({ method, path, query, body: value, joins }) => {
    const target = `${path.map(encodeURIComponent).join('/')}${queryString(query)}`;
    const body = value === undefined ? undefined : stringifyJson(value);
    budget.earn();
    for (let attempt = 1; ; attempt += 1) {
      // What did not come of the first attempt together is tried again alone.
      const isJoined = join && joins !== undefined && attempt === 1;
      const { reply, error, again, retryAfter } = await (isJoined
        ? join(joins, target)
        : tryOnce(sender, { method, target: `${base}/${target}`, body }));
      if (reply !== undefined) return reply;
      if (!again || attempt >= most || signal?.aborted === true || !budget.spend()) throw error;
      await wait(pauseMs(attempt, retryAfter));
    }
  };
}

interface Sender {
  readonly exchange: Exchange;
  readonly origin: string;
  readonly sign: ClientOptions['sign'] | undefined;
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Those of requests without a body. */
  readonly bare: Readonly<Record<string, string>>;
}

async function tryOnce(
  { exchange, origin, sign, timeoutMs, ...sent }: Sender,
  { method, target, body }: Omit<Outgoing, 'headers'>,
): Promise<Attempt> {
  const plain = body === undefined ? sent.bare : sent.headers;
  const headers =
    sign === undefined ? plain : await sign({ method, url: new URL(target, origin), headers: plain, body });
  let answer: Incoming;
  try {
    answer = await exchange({ method, target, headers, body }, timeoutMs);
  } catch (cause) {
    return {
      error: new SchemalessError('unavailable', `No answer from ${origin}: ${reason(cause)}`, { cause }),
      again: true,
      retryAfter: null,
    };
  }
  const { status, bytes, retryAfter } = answer;
  if (status >= 200 && status < 300) return readReply(answer);
  return failed(status, readProblem(textOf(bytes)), retryAfter);
}

/** Undefined for what is no JSON, whose error is then the usual one. */
function readPlain(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** What an answer means that came among others. */
function attemptOf(status: number, body: Reply['json']): Attempt {
  return status === 200 ? { reply: { status, json: body } } : failed(status, body, null);
}

function failed(status: number, problem: Reply['json'], retryAfter: string | null): Attempt {
  return { error: errorOf(problem, status), status, again: mayHelp(status, problem), retryAfter };
}

function readReply(answer: Incoming): Attempt {
  const { status } = answer;
  const json = isMessagePack(answer.contentType) ? readPacked(answer.bytes) : readJson(answer);
  if (isJsonObject(json)) return { reply: { status, json } };
  return {
    error: new SchemalessError('internal', `Answered ${status} with something else than an object`),
    again: false,
    retryAfter: null,
  };
}

function readJson({ bytes, isPlain }: Incoming): Json {
  const text = textOf(bytes);
  return (
    (isPlain ? readPlain(text) : undefined) ??
    parseJson(text, { field: 'answer', maxDepth: LIMITS.bodyDepth + DEPTH_AROUND })
  );
}

function readPacked(bytes: Uint8Array): Json {
  try {
    return readMessagePack(bytes);
  } catch (cause) {
    throw new SchemalessError('internal', `The answer is no MessagePack: ${reason(cause)}`, { cause });
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

/** Whether the same request can succeed later: as the problem says, else by its status. */
function mayHelp(status: number, problem: Reply['json']): boolean {
  if (problem['retry'] !== undefined) return problem['retry'] === 'later';
  return status === 429 || status >= 500;
}

/** Gateways refuse with JSON of their own, or with none. */
function readProblem(text: string): Reply['json'] {
  try {
    const json = parseJson(text);
    return isJsonObject(json) ? json : { message: text.slice(0, 200) };
  } catch {
    return { message: text.slice(0, 200) };
  }
}

function queryString(query: Call['query'] = {}): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value])
      pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(one))}`);
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** fetch says "fetch failed" and keeps the reason in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
