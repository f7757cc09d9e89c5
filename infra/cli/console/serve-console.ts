import { randomBytes, timingSafeEqual } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CONSOLE_ROUTES, isRead, ROUTES } from '../../../shared/api/operations.ts';
import type { ClientOptions } from '../../../shared/client/options.ts';

type Sign = NonNullable<ClientOptions['sign']>;

export interface ConsoleProps {
  readonly url: string;
  /** @default requests go unsigned */
  readonly sign: Sign | undefined;
  /** What changes something passes, too, as far as IAM lets whoever signs. */
  readonly actions: boolean;
  /** Shown on the page; what it puts into its lines of the command line. */
  readonly profile: string | undefined;
  readonly datastore: string | undefined;
  /** 0 for any. */
  readonly port: number;
}

export interface ServedConsole {
  /** What a browser opens; it is good once. */
  readonly address: string;
  readonly origin: string;
  readonly opened: Promise<unknown>;
  /** Resolves once the right address was opened again: from then on the session is over for both. */
  readonly openedTwice: Promise<unknown>;
  close(): void;
}

/** The largest request that the API takes. */
const MOST_BYTES = 6_000_000;
const TIMEOUT_MS = 31_000;
const SESSION = '/console/session.json';
const REDEEM = '/console/redeem';
/** What the page is made of, as it is packed: all else of the API takes a token. */
const FILE = /^\/console(?:\/[\w./-]+\.(?:html|js|css|svg))?$/u;
const SENT = ['accept', 'content-type', 'if-none-match', 'x-schemaless-bodies', 'x-request-id'];
/** What the page is told of an answer; the policy for its content among them. */
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

/** Serves the console of an API and signs its requests, for the one browser that opened the address. */
export async function serveConsole(props: ConsoleProps): Promise<ServedConsole> {
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
    address: `${origin}/console#token=${word}`,
    opened: once(openings, 'first'),
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
  // A name that leads here is another page's, which would read answers as its own.
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
    return problem(403, 'denied', 'This console only reads: schemaless console --actions lets it do more');
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

/** What the API says of the session, and what holds here. */
function sessionOf({ status, headers, body }: Answered, { url, actions, profile, datastore }: Serving): Answered {
  const known = Object(JSON.parse(Buffer.from(body).toString('utf8'))) as object;
  const through = { url, profile: profile ?? null, datastore: datastore ?? null };
  return json(status, { ...known, actions, through }, headers);
}

/** Undefined: it is larger than the API takes. */
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

/** In a time that does not say how much of it is right. */
function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/** Whether somebody's signature is put under a request of the page. */
type Passing = 'reads' | 'changes' | 'unknown';

/** Says what a request would do, by its route. The path is percent-encoded, without its query. */
export function passingOf(method: string, path: string): Passing {
  if (CONSOLE_ROUTES.some((route) => route.method === method && fits(route.path, path))) return 'reads';
  const own = ROUTES.filter((route) => route.method === method && fits(route.path, path));
  // Of several that fit, as `health` and the name of a datastore, the gateway takes the one that names more.
  const [route] = own.toSorted((one, other) => parametersIn(one.path) - parametersIn(other.path));
  if (!route) return 'unknown';
  if (isRead(route)) return 'reads';
  return route.mayCall.includes('console') ? 'changes' : 'unknown';
}

function parametersIn(path: string): number {
  return path.split('{').length;
}

/** Segment by segment; nothing that a server may take for another path has one. */
function fits(route: string, path: string): boolean {
  const [wanted, got] = [route.split('/'), path.split('/')];
  if (got.some((part) => /^(?:\.|%2e){1,2}$/iu.test(part) || part.includes('\\'))) return false;
  if (wanted.at(-1)?.endsWith('+}') !== true && wanted.length !== got.length) return false;
  if (got.length < wanted.length) return false;
  return wanted.every((part, position) => (part.startsWith('{') ? got[position] !== '' : part === got[position]));
}
