import { randomBytes, timingSafeEqual } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CONSOLE_ROUTES, isRead, ROUTES } from '../../../shared/api/operations.ts';
import type { ClientOptions } from '../../../shared/client/options.ts';
import { routeTable } from '../../local/gateway/route-table.ts';

type Sign = NonNullable<ClientOptions['sign']>;

export interface ConsoleProps {
  readonly url: string;
  /** Signs requests. @default they go unsigned */
  readonly sign: Sign | undefined;
  /** Whether changes pass, within the signer's rights in IAM. */
  readonly actions: boolean;
  /** Shown on the page and in its commands. */
  readonly profile: string | undefined;
  readonly datastore: string | undefined;
  /** 0 for any port. */
  readonly port: number;
}

/** The largest request that the API takes. */
const MOST_BYTES = 6_000_000;
const TIMEOUT_MS = 31_000;
const SESSION = '/console/session.json';
const REDEEM = '/console/redeem';
/** The page's files. All other routes of the API need a token. */
const FILE = /^\/console(?:\/[\w./-]+\.(?:html|js|css|svg))?$/u;
const SENT = ['accept', 'content-type', 'if-none-match', 'x-schemaless-bodies', 'x-request-id'];
/** The headers that the page gets, such as the content security policy. */
const RETURNED = [
  'content-type',
  'etag',
  'cache-control',
  'vary',
  'retry-after',
  'x-json',
  'x-request-id',
  'apigw-requestid',
  'content-security-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'x-content-type-options',
  'x-frame-options',
];

export type ServedConsole = Awaited<ReturnType<typeof serveConsole>>;

/** Serves the console of an API, and signs requests of the one browser that opened the address. */
export async function serveConsole(props: ConsoleProps) {
  const word = randomBytes(24).toString('base64url');
  const token = randomBytes(24).toString('base64url');
  const openings = new EventEmitter();
  let redemptions = 0;
  const redeem = (given: string): string | undefined => {
    if (!isSame(given, word)) return undefined;
    redemptions += 1;
    openings.emit(redemptions === 1 ? 'first' : 'second');
    return redemptions === 1 ? token : undefined;
  };
  const isOpenedBy = (given: string): boolean => redemptions === 1 && isSame(given, token);
  const server = createServer((request, response) => {
    answer(request, { ...props, isOpenedBy, redeem, port: portOf(server) }).then(
      (one) => send(response, one),
      (error: unknown) => send(response, problem(502, 'no_answer', `The API does not answer: ${reasonOf(error)}`)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(props.port, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${portOf(server)}`;
  return {
    origin,
    /** The address for the browser, which works once. */
    address: `${origin}/console#token=${word}`,
    opened: once(openings, 'first'),
    /** Resolves once the address was opened again, which ends the session for both browsers. */
    openedTwice: once(openings, 'second'),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

interface Serving extends ConsoleProps {
  readonly isOpenedBy: (token: string) => boolean;
  readonly redeem: (word: string) => string | undefined;
}

async function answer(request: IncomingMessage, serving: Serving): Promise<Answered> {
  const { method = 'GET', headers, url: target = '/' } = request;
  const own = [`127.0.0.1:${serving.port}`, `localhost:${serving.port}`];
  // Another name that resolves to this host is a page's that wants to read the answers.
  if (!own.includes(headers.host ?? '')) return problem(421, 'denied', `host: wanted ${own.join(' or ')}`);
  if (headers.origin !== undefined && !own.includes(headers.origin.replace(/^http:\/\//u, '')))
    return problem(403, 'denied', 'origin: wanted the page itself');
  const body = await bodyOf(request);
  if (body === undefined) return problem(413, 'request_too_large', `wanted at most ${MOST_BYTES} bytes`);
  const { pathname, search } = new URL(target, 'http://127.0.0.1');
  if (method === 'POST' && pathname === REDEEM) return redeemed(body, serving);
  const isFile = (method === 'GET' || method === 'HEAD') && FILE.test(pathname);
  if (!isFile && !serving.isOpenedBy(String(headers['x-console-token'] ?? '')))
    return problem(401, 'denied', 'This browser did not open the address that the command printed');
  const passing = passingOf(method, pathname);
  if (passing === 'unknown') return problem(403, 'denied', `The console does not send ${method} ${pathname}`);
  if (passing === 'changes' && !serving.actions)
    return problem(403, 'denied', 'This console only reads: schemaless console --actions allows changes');
  const answered = await ask(method, `${pathname}${search}`, body, serving, headers);
  return pathname === SESSION && answered.status === 200 ? sessionOf(answered, serving) : answered;
}

function redeemed(body: string, { redeem }: Serving): Answered {
  const token = redeem(wordIn(body));
  return token === undefined
    ? problem(401, 'denied', 'The address was opened already: run the command again')
    : json(200, { token });
}

function wordIn(body: string): string {
  try {
    return String(Object(JSON.parse(body)).word);
  } catch {
    return '';
  }
}

async function ask(
  method: string,
  path: string,
  body: string,
  serving: Serving,
  headers: IncomingMessage['headers'],
): Promise<Answered> {
  const { url: base, sign } = serving;
  const url = new URL(`${base.replace(/\/+$/u, '')}${path}`);
  const sent = picked(SENT, (name) => headers[name]);
  const given = body === '' ? undefined : body;
  const signed = sign ? await sign({ method, url, headers: sent, body: given }) : sent;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, {
    method,
    headers: signed,
    redirect: 'manual',
    signal,
    ...(given !== undefined && { body: given }),
  });
  const back = picked(RETURNED, (name) => response.headers.get(name));
  return { status: response.status, headers: back, body: new Uint8Array(await response.arrayBuffer()) };
}

function picked(names: readonly string[], valueOf: (name: string) => unknown): Record<string, string> {
  const found = names.map((name) => [name, valueOf(name)] as const);
  return Object.fromEntries(found.filter((one): one is [string, string] => typeof one[1] === 'string'));
}

/** Returns the API's session, with the settings of this process. */
function sessionOf({ status, headers, body }: Answered, { url, actions, profile, datastore }: Serving): Answered {
  const known = Object(JSON.parse(Buffer.from(body).toString('utf8'))) as object;
  const through = { url, profile: profile ?? null, datastore: datastore ?? null };
  return json(status, { ...known, actions, through }, headers);
}

/** Returns undefined for a body larger than the API accepts. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes <= MOST_BYTES) chunks.push(chunk);
  }
  return bytes > MOST_BYTES ? undefined : Buffer.concat(chunks).toString('utf8');
}

function problem(status: number, code: string, detail: string): Answered {
  return json(status, { code, detail });
}

function json(status: number, value: object, headers: Readonly<Record<string, string>> = {}): Answered {
  return {
    status,
    headers: { ...headers, 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: Buffer.from(JSON.stringify(value)),
  };
}

function send(response: ServerResponse, { status, headers, body }: Answered): void {
  response.writeHead(status, { 'x-content-type-options': 'nosniff', ...headers });
  response.end(body);
}

/** Compares in constant time, which reveals no matching prefix. */
function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/** The kind of a request of the page, which decides whether it is signed. */
type Passing = 'reads' | 'changes' | 'unknown';

/** Chooses routes as the gateway does: the one with more literal parts, such as `health` before a datastore's name. */
const PASSING = routeTable(
  [...CONSOLE_ROUTES, ...ROUTES].map((target) => ({ routeKey: `${target.method} ${target.path}`, target })),
);

/** Returns the kind of a request, by its route. The path is percent-encoded, without its query. */
export function passingOf(method: string, path: string): Passing {
  const [, ...segments] = path.split('/');
  // A server may resolve these to another path.
  if (segments.some((part) => /^(?:\.|%2e){1,2}$/iu.test(part) || part.includes('\\'))) return 'unknown';
  const route = PASSING.match(method, segments)?.target;
  if (!route) return 'unknown';
  if (!('operation' in route) || isRead(route)) return 'reads';
  return route.mayCall.includes('console') ? 'changes' : 'unknown';
}
