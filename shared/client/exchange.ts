import { isPlainJson } from '../api/plain-json.ts';
import { onAbort } from '../on-abort.ts';
import { Agent as HttpAgent, request as requestByHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestByHttps } from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';

export interface Outgoing {
  readonly method: string;
  /** Without the origin, encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface Incoming {
  readonly status: number;
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
  readonly retryAfter: string | null;
  /** The request's id in the server's log. */
  readonly requestId: string | null;
  /** JSON.parse reads it without loss. */
  readonly isPlain: boolean;
}

/** Sends one request once, until the limit in milliseconds or the signal. Rejects without a whole answer. */
export type Exchange = (request: Outgoing, timeoutMs: number, signal?: AbortSignal) => Promise<Incoming>;

/** Sends over a `fetch` of the caller's. */
export function exchangeByFetch(send: typeof fetch, origin: string): Exchange {
  return async ({ method, target, headers, body }, timeoutMs, signal) => {
    signal?.throwIfAborted();
    const timeout = AbortSignal.timeout(timeoutMs);
    const response = await send(new URL(target, origin), {
      method,
      headers,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      ...(body === undefined ? {} : { body }),
    });
    return {
      status: response.status,
      bytes: new Uint8Array(await response.arrayBuffer()),
      contentType: response.headers.get('content-type'),
      retryAfter: response.headers.get('retry-after'),
      requestId: response.headers.get('x-request-id'),
      isPlain: isPlainJson(response.headers.get('x-json')),
    };
  };
}

/** Milliseconds for which an idle connection is kept. Load balancers keep theirs for a minute. */
const IDLE_MS = 4000;
/** The limit for a connection: a host that is gone never answers. */
const CONNECT_MS = 2000;

const HTTP = { agent: new HttpAgent({ keepAlive: true, timeout: IDLE_MS }), request: requestByHttp };
const HTTPS = { agent: new HttpsAgent({ keepAlive: true, timeout: IDLE_MS }), request: requestByHttps };

/**
 * Sends over Node's own HTTP client, in half of the time of its fetch. All clients of the process share connections,
 * which do not keep it running. `isOneOfMany`: gives up a host without a connection in time, for another one.
 */
export function exchangeByHttp(origin: string, isOneOfMany: boolean): Exchange {
  const { protocol, hostname, port } = urlToHttpOptions(new URL(origin));
  const { agent, request } = protocol === 'https:' ? HTTPS : HTTP;

  return async ({ method, target, headers, body }, timeoutMs, signal) => {
    const end = performance.now() + timeoutMs;
    for (;;) {
      signal?.throwIfAborted();
      const sent = request({ protocol, hostname, port, agent, method, path: target, headers });
      if (isOneOfMany) sent.once('socket', (socket) => giveUpUnconnected(sent, socket));
      const answer = await answerTo(sent, body, { timeoutMs, end }, signal);
      if (answer !== undefined) return answer;
    }
  };
}

/** Answers a request; undefined if the server had closed the idle connection: try another. */
function answerTo(
  sent: ClientRequest,
  body: string | undefined,
  { timeoutMs, end }: { readonly timeoutMs: number; readonly end: number },
  signal: AbortSignal | undefined,
): Promise<Incoming | undefined> {
  return new Promise((resolve, reject) => {
    const giveUp = (error: Error): void => {
      reject(error);
      sent.destroy(error);
    };
    const late = (): void => giveUp(new Error(`not answered within ${timeoutMs} ms`));
    const timer = setTimeout(late, end - performance.now());
    const forget = onAbort(signal, () => giveUp(signal?.reason));
    let answered = false;
    sent.on('response', (response) => {
      answered = true;
      readAnswer(response).then(resolve, reject);
    });
    sent.on('error', (error) =>
      sent.reusedSocket && !answered && isClosed(error) ? resolve(undefined) : reject(error),
    );
    sent.on('close', () => {
      clearTimeout(timer);
      forget();
    });
    sent.end(body);
  });
}

function readAnswer(response: IncomingMessage): Promise<Incoming> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => void chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const [only = Buffer.of(), ...more] = chunks;
      resolve({
        status: response.statusCode ?? 0,
        bytes: more.length === 0 ? only : Buffer.concat(chunks),
        contentType: response.headers['content-type'] ?? null,
        retryAfter: response.headers['retry-after'] ?? null,
        requestId: [response.headers['x-request-id']].flat()[0] ?? null,
        isPlain: isPlainJson(response.headers['x-json']),
      });
    });
  });
}

function giveUpUnconnected(sent: ClientRequest, socket: Socket): void {
  if (!socket.connecting) return;
  const timer = setTimeout(() => sent.destroy(new Error(`no connection within ${CONNECT_MS} ms`)), CONNECT_MS);
  for (const end of ['connect', 'close'] as const) socket.once(end, () => clearTimeout(timer));
}

function isClosed(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE';
}
