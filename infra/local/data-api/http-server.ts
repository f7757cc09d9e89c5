import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { stringifyExactly } from './exact-json.ts';
import { DataApiException, exceptionOf } from './exceptions.ts';
import { checkFault, type Faults } from './faults.ts';
import type { OperationName, Operations } from './operations.ts';
import { readMembers } from './request.ts';

/** One call that was answered, or cut off. */
export interface DataApiEvent {
  readonly operation: string;
  /** Undefined: the connection was cut. */
  readonly status: number | undefined;
  readonly milliseconds: number;
  readonly exception?: string;
  readonly message?: string;
}

interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly requestBytes: number;
  readonly operations: Operations;
  readonly faults: Faults;
  readonly report: (event: DataApiEvent) => void;
  /** Given the server before it listens. */
  readonly onServer?: ((server: Server) => void) | undefined;
}

const PATHS: ReadonlyMap<string, OperationName> = new Map([
  ['/Execute', 'ExecuteStatement'],
  ['/BatchExecute', 'BatchExecuteStatement'],
  ['/BeginTransaction', 'BeginTransaction'],
  ['/CommitTransaction', 'CommitTransaction'],
  ['/RollbackTransaction', 'RollbackTransaction'],
  ['/ExecuteSql', 'ExecuteSql'],
]);
/** Operations after which something may be committed. */
const COMMITS: ReadonlySet<OperationName> = new Set(['ExecuteStatement', 'BatchExecuteStatement', 'CommitTransaction']);
const FAULTS_PATH = '/_faults';

/**
 * Serves the API, and the faults route beside it. Who may call is not checked, but that it is no web page: signatures
 * are taken as they come.
 */
export async function startHttpServer({
  host,
  port,
  requestBytes,
  operations,
  faults,
  report,
  onServer,
}: HttpServerOptions): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    // A browser sends a page's plain text without asking first, and statements are that to it.
    if (request.headers.origin !== undefined)
      return send(response, 403, { message: 'origin: wanted a program that is no browser, got a web page' });
    const [pathname = '/'] = (request.url ?? '/').split('?', 1);
    const answered =
      pathname === FAULTS_PATH ? answerFaults(request, response, faults) : answerCall(request, response, pathname);
    // The client went away while it sent.
    return void answered.catch(() => response.destroy());
  });

  async function answerCall(request: IncomingMessage, response: ServerResponse, pathname: string): Promise<void> {
    const startedAt = performance.now();
    const operation = PATHS.get(pathname);
    const body = await readBody(request, requestBytes);
    const done = (status: number | undefined, exception?: DataApiException): void =>
      report({
        operation: operation ?? pathname,
        status,
        milliseconds: Math.round(performance.now() - startedAt),
        ...(exception ? { exception: exception.name, message: exception.message } : {}),
      });
    try {
      if (request.method !== 'POST' || !operation)
        throw new DataApiException(
          'UnknownOperationException',
          `${request.method ?? ''} ${pathname} is no operation of the RDS Data API`,
        );
      if (!body)
        throw new DataApiException(
          'RequestEntityTooLargeException',
          `Request must be smaller than ${requestBytes} bytes`,
        );
      faults.refuse();
      const answer = await operations.run(operation, readMembers(body));
      if (COMMITS.has(operation) && faults.cuts()) {
        request.socket.resetAndDestroy();
        return done(undefined);
      }
      send(response, 200, answer);
      return done(200);
    } catch (error) {
      const exception = exceptionOf(error);
      send(
        response,
        exception.status,
        { message: exception.message, ...exception.members },
        { 'x-amzn-errortype': exception.name },
      );
      return done(exception.status, exception);
    }
  }

  onServer?.(server);
  const bound = await listen(server, port, host);
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns the port that it got. Throws an `Error` that names the option. */
async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new Error(`port: wanted a free port, got ${port}, which is in use or not allowed`, { cause });
  }
  const address = server.address();
  return typeof address === 'object' && address ? address.port : port;
}

/** `POST` sets a fault, `DELETE` ends all of them, `GET` shows them. */
async function answerFaults(request: IncomingMessage, response: ServerResponse, faults: Faults): Promise<void> {
  const body = (await readBody(request, 10_000)) ?? Buffer.alloc(0);
  try {
    if (request.method === 'POST') faults.set(checkFault(JSON.parse(body.toString('utf8'))));
    else if (request.method === 'DELETE') faults.clear();
    else if (request.method !== 'GET') throw new RangeError(`wanted GET, POST or DELETE, got ${request.method ?? ''}`);
    send(response, 200, { faults: faults.status() });
  } catch (error) {
    send(response, 400, { error: error instanceof Error ? error.message : String(error) });
  }
}

/**
 * Undefined when headers and body are larger than allowed; read to its end all the same, so that the answer is heard.
 */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  let bytes = request.rawHeaders.reduce((sum, part) => sum + part.length + 2, 0);
  let chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= limit) chunks.push(chunk);
    else chunks = [];
  }
  return bytes > limit ? undefined : Buffer.concat(chunks);
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = stringifyExactly(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-amzn-requestid': randomUUID(),
    ...headers,
  });
  response.end(text);
}
