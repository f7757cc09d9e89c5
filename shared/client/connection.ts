import { MESSAGE_PACK } from '../api/message-pack.ts';
import { parseJson, stringifyJson } from '../body/json.ts';
import { readMessagePack } from '../body/read-message-pack.ts';
import { isObject, LIMITS, type CellAddress, type Json } from '../cell.ts';
import type { Attempt, BatchRoute, BoundedConnection, Call, Reply } from './calls.ts';
import { boundsOf, isOver, isTurn, leftMs, within, type Bounds } from './bounds.ts';
import { endpointsOf, type Endpoint, type Endpoints } from './endpoints.ts';
import type { Incoming, Outgoing } from './exchange.ts';
import type { ClientOptions } from './options.ts';
import { batchRequests } from './batch-requests.ts';
import { failed, noAnswer } from './problem.ts';
import { RETRY_SHARE, retryBudget, type RetryBudget } from './retry-budget.ts';

/** The most levels of an answer around a cell's body. */
const DEPTH_AROUND = 9;
const TIMEOUT_MS = 31_000;
const ATTEMPTS = 5;
/** The most characters of a batched put's body: a hundred bodies, at three bytes a character, fit into a request. */
const MOST_BATCHED = 13_000;
const ACCEPT_JSON = { accept: 'application/json' };
const ACCEPT_MESSAGE_PACK = { accept: `${MESSAGE_PACK}, application/json;q=0.9` };
const OF_BODY = { 'content-type': 'application/json' };

/** Returns a connection that retries requests while a retry may help: each can be repeated safely. */
export function connect(options: ClientOptions): BoundedConnection {
  const { retryBudget: desired = RETRY_SHARE, sign, timeoutMs = TIMEOUT_MS } = options;
  const budget = typeof desired === 'object' ? desired : retryBudget(desired);
  const accept = options.messagePack === false ? ACCEPT_JSON : ACCEPT_MESSAGE_PACK;
  const endpoints = endpointsOf(options);
  const sender: Sender = { endpoints, budget, sign, headers: { ...accept, ...OF_BODY }, bare: accept };
  const whole: Bounds = { signal: options.signal, end: undefined, timeoutMs };
  const { joinReads = true, joinPuts = false } = options;
  const batched = (target: BatchRoute, body: string, bounds: Bounds): Promise<Attempt> =>
    tryEach(sender, { method: 'POST', target, body }, bounds);
  const join = batchRequests(batched, whole);
  const mayJoin = (route: BatchRoute, body: string | undefined): boolean =>
    route === 'batch-put' ? joinPuts && body !== undefined && body.length <= MOST_BATCHED : joinReads;
  return async ({ method, path, query, body: value, statuses, joins, address }, limits) => {
    const target = `${path.map(encodeURIComponent).join('/')}${queryString(query)}`;
    const body = value === undefined ? undefined : stringifyJson(value);
    const bounds =
      limits === undefined && options.deadlineMs === undefined ? whole : boundsOf({ ...options, timeoutMs }, limits);
    const most = options.attempts ?? (bounds.end === undefined ? ATTEMPTS : Infinity);
    budget.earn();
    for (let attempt = 1; ; attempt += 1) {
      const alone = (): Promise<Attempt> => tryEach(sender, { method, target, body, statuses }, bounds);
      // A batched call that failed in the first attempt is retried alone.
      const isJoined = joins !== undefined && attempt === 1 && !isOver(bounds) && mayJoin(joins, body);
      const tried = isJoined
        ? within(bounds, join({ route: joins, item: itemOf(target, address, body), alone, bounds })).catch(
            (cause: unknown) => noAnswer(`No answer yet: ${reason(cause)}`, cause),
          )
        : alone();
      const { reply, error, again, retryAfter } = await tried;
      if (reply !== undefined) return reply;
      const mayWait = again && attempt < most;
      if (!mayWait || !(await isTurn(budget, bounds, attempt, retryAfter))) throw error;
    }
  };
}

/** Returns the item of a call in a batch: a put's address and body, or a read's path. */
function itemOf(target: string, address: CellAddress | undefined, body: string | undefined): string {
  if (address === undefined || body === undefined) return JSON.stringify(target);
  const { row_key, column_name, ref_key } = address;
  return `{"row_key":${JSON.stringify(row_key)},"column_name":${JSON.stringify(column_name)},"ref_key":${ref_key},"body":${body}}`;
}

interface Sender {
  readonly endpoints: Endpoints;
  readonly budget: RetryBudget;
  readonly sign: ClientOptions['sign'] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The headers of requests without a body. */
  readonly bare: Readonly<Record<string, string>>;
}

/** A request; its target is a path of the datastore. */
type Asked = Omit<Outgoing, 'headers'> & Pick<Call, 'statuses'>;

/** Tries each endpoint once, in order, until one answers. One that failed recently costs a retry. */
async function tryEach(sender: Sender, asked: Asked, bounds: Bounds): Promise<Attempt> {
  const { endpoints, budget } = sender;
  let last: Attempt | undefined;
  for (const endpoint of endpoints.inOrder()) {
    const mayTurn = (): Promise<boolean> => within(bounds, endpoints.mayTurnTo(endpoint)).catch(() => false);
    if (last && (isOver(bounds) || !((await mayTurn()) || budget.spend()))) break;
    last = await tryOnce(sender, endpoint, asked, bounds);
    if (last.elsewhere !== true) {
      endpoints.answered(endpoint);
      break;
    }
    if (isOver(bounds)) endpoints.ended(endpoint);
    else endpoints.failed(endpoint);
  }
  return last as Attempt;
}

async function tryOnce(
  { sign, ...sent }: Sender,
  { origin, base, exchange }: Endpoint,
  { method, target: path, body, statuses }: Asked,
  bounds: Bounds,
): Promise<Attempt> {
  const plain = body === undefined ? sent.bare : sent.headers;
  // The datastore itself has no path below it.
  const target = path === '' || path.startsWith('?') ? `${base}${path}` : `${base}/${path}`;
  let headers: Outgoing['headers'] | undefined;
  let answer: Incoming;
  try {
    // The caller's `sign` has no bounds of its own.
    const end = performance.now() + leftMs(bounds);
    headers = sign
      ? await within({ ...bounds, end }, sign({ method, url: new URL(target, origin), headers: plain, body }))
      : plain;
    answer = await within(bounds, exchange({ method, target, headers, body }, leftMs(bounds), bounds.signal));
  } catch (cause) {
    const what = headers === undefined ? 'No signature for' : 'No answer from';
    return { ...noAnswer(`${what} ${origin}: ${reason(cause)}`, cause), elsewhere: headers !== undefined };
  }
  const { status, bytes } = answer;
  if (status >= 200 && status < 300) return readReply(answer, origin);
  const problem = readProblem(textOf(bytes));
  if (statuses?.includes(status) && problem['code'] === undefined && problem['message'] === undefined)
    return { reply: { status, json: problem } };
  const elsewhere = status >= 502 && status <= 504 && problem['code'] === undefined;
  return { ...failed(status, problem, answer), elsewhere };
}

/** Treats an unreadable answer as none: a proxy may have sent it, and the request may be done. */
function readReply(answer: Incoming, origin: string): Attempt {
  const { status, bytes, contentType, isPlain } = answer;
  try {
    const json = contentType === MESSAGE_PACK ? readMessagePack(bytes) : readJson(textOf(bytes), isPlain);
    if (isObject(json)) return { reply: { status, json } };
    throw new TypeError('no object');
  } catch (cause) {
    const message = `No answer from ${origin} to read, but ${status}: ${reason(cause)}`;
    return { ...noAnswer(message, cause), elsewhere: true };
  }
}

/** Uses JSON.parse, which is far faster, if the server says that it loses nothing. */
function readJson(text: string, isPlain: boolean): Json {
  const options = { field: 'answer', maxDepth: LIMITS.bodyDepth + DEPTH_AROUND };
  return isPlain ? (JSON.parse(text) as Json) : parseJson(text, options);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

/** Reads a problem: gateways refuse with their own JSON, or with other text. */
function readProblem(text: string): Reply['json'] {
  try {
    const json = parseJson(text);
    if (isObject(json)) return json;
  } catch {
    // As text.
  }
  return { message: text.slice(0, 200) };
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

/** Returns the reason of a failure: fetch says "fetch failed", with the reason in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
