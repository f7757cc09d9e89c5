import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { stringifyJson } from '../../../shared/body/json.ts';
import { closeAtOnce, listen, refuseOthers, refuseOtherUsers } from '../server.ts';
import { Connections } from './connections.ts';
import { DataApiException, exceptionOf } from './exceptions.ts';
import { execute, type ResolveLogin } from './execute.ts';
import { Faults } from './faults.ts';
import { readExecute } from './request.ts';

/** Headers and body of a request. */
const REQUEST_BYTES = 4 * 1024 * 1024;

interface DataApiOptions {
  readonly login: ResolveLogin;
  /** See `Faults`. */
  readonly random?: () => number;
  readonly onServer?: (server: Server) => void;
}

export type DataApi = Awaited<ReturnType<typeof startDataApi>>;

/** Serves ExecuteStatement over MySQL servers here, with AWS's limits and errors; checks no signatures. */
export async function startDataApi({ login, random = Math.random, onServer }: DataApiOptions) {
  const faults = new Faults(random);
  const connections = new Connections();
  const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
    // The client may disconnect while it sends.
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    try {
      if (request.method !== 'POST' || request.url !== '/Execute')
        throw new DataApiException(
          'UnknownOperationException',
          `${request.method} ${request.url}: wanted ExecuteStatement, which is all that the store uses`,
        );
      if (!body)
        throw new DataApiException(
          'RequestEntityTooLargeException',
          `Request must be smaller than ${REQUEST_BYTES} bytes`,
        );
      faults.refuse();
      const result = await execute(readExecute(body), login, connections);
      if (faults.cuts()) request.socket.resetAndDestroy();
      else send(response, 200, result);
    } catch (error) {
      const { name, message, status } = exceptionOf(error);
      send(response, status, { message }, { 'x-amzn-errortype': name });
    }
  }

  onServer?.(server);
  refuseOthers(server);
  refuseOtherUsers(server);
  const port = await listen(server, 0);
  return {
    url: `http://127.0.0.1:${port}`,
    faults,
    async stop() {
      await closeAtOnce(server);
      await connections.close();
    },
  };
}

/** Undefined for more than the limit; read to its end all the same, so that the answer is heard. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  let bytes = request.rawHeaders.reduce((sum, part) => sum + part.length + 2, 0);
  let chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= REQUEST_BYTES) chunks.push(chunk);
    else chunks = [];
  }
  return bytes > REQUEST_BYTES ? undefined : Buffer.concat(chunks);
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = stringifyJson(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-amzn-requestid': randomUUID(),
    ...headers,
  });
  response.end(text);
}
