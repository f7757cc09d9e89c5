import { setTimeout as wait } from 'node:timers/promises';
import { parseJson, stringifyJson } from '../body/json.ts';
import { LIMITS, type Json } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import type { ClientOptions } from './options.ts';
import { pauseMs } from './pause.ts';
import { errorOf, isJsonObject } from './problem.ts';
import { retryBudget } from './retry-budget.ts';

export interface Call {
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Parts of the path after the datastore; each is encoded. */
  readonly path: readonly (string | number)[];
  /** Those that are undefined are left out; a list is repeated. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  readonly body?: unknown;
}

/** An answer, read. */
export interface Reply {
  readonly status: number;
  readonly json: { readonly [member: string]: Json };
}

/** Sends a call until it is answered, and returns the answer. Throws SchemalessError. */
export type Connection = (call: Call) => Promise<Reply>;

/** What an answer puts around a cell's body at most: the answer, a list, a log, its list, the cell. */
const DEPTH_AROUND = 6;
const TIMEOUT_MS = 31_000;
const ATTEMPTS = 5;
const RETRY_SHARE = 0.1;

/** Every request of the API can be repeated safely, so that each is, while there is hope. */
export function connect(options: ClientOptions): Connection {
  const base = `${options.url.replace(/\/+$/, '')}/v1/${encodeURIComponent(options.datastore)}`;
  const most = options.attempts ?? ATTEMPTS;
  const budget = retryBudget(options.retryBudget ?? RETRY_SHARE);
  return async (call) => {
    const url = new URL(`${base}/${call.path.map(encodeURIComponent).join('/')}${queryString(call.query)}`);
    const body = call.body === undefined ? undefined : stringifyJson(call.body);
    budget.earn();
    for (let attempt = 1; ; attempt += 1) {
      const { reply, error, again, retryAfter } = await tryOnce(options, { method: call.method, url, body });
      if (reply !== undefined) return reply;
      if (!again || attempt >= most || !budget.spend()) throw error;
      await wait(pauseMs(attempt, retryAfter));
    }
  };
}

type Attempt =
  | { readonly reply: Reply; readonly error?: undefined; readonly again?: undefined; readonly retryAfter?: undefined }
  | { readonly reply?: undefined; readonly error: SchemalessError; readonly again: boolean; readonly retryAfter: string | null };

async function tryOnce(options: ClientOptions, { method, url, body }: { method: string; url: URL; body: string | undefined }): Promise<Attempt> {
  const plain = body === undefined ? {} : { 'content-type': 'application/json' };
  const headers = options.sign === undefined ? plain : await options.sign({ method, url, headers: plain, body });
  let response: Response;
  let text: string;
  try {
    const signal = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
    response = await (options.fetch ?? fetch)(url, { method, headers, signal, ...(body === undefined ? {} : { body }) });
    text = await response.text();
  } catch (cause) {
    return { error: new SchemalessError('unavailable', `No answer from ${url.origin}: ${reason(cause)}`, { cause }), again: true, retryAfter: null };
  }
  if (response.ok) return readReply(response.status, text);
  const problem = readProblem(text);
  const error = errorOf(problem, response.status);
  return { error, again: mayHelp(response.status, problem), retryAfter: response.headers.get('retry-after') };
}

function readReply(status: number, text: string): Attempt {
  const json = parseJson(text, { field: 'answer', maxDepth: LIMITS.bodyDepth + DEPTH_AROUND });
  if (isJsonObject(json)) return { reply: { status, json } };
  return { error: new SchemalessError('internal', `Answered ${status} with something else than an object`), again: false, retryAfter: null };
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
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) pairs.append(name, String(one));
    }
  }
  // Spaces as signatures have them; a "+" that is one is %2B here.
  return pairs.size === 0 ? '' : `?${String(pairs).replaceAll('+', '%20')}`;
}

/** fetch says "fetch failed" and keeps the reason in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
