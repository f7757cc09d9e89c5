import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';

const LOOPBACK = '127.0.0.1';

/**
 * Listens on the loopback interface and returns the port; 0 asks for any free one. Throws an Error that names the flag.
 */
export async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, LOOPBACK);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new Error(`--port: wanted a free port, got ${port}, which is in use or not allowed`, { cause });
  }
  return (server.address() as AddressInfo).port;
}

/** Ends open connections too. */
export async function closeAtOnce(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

/** Puts a handler before a server's own; `look` answers or hands on. Call it before it listens. */
export function standBefore(
  server: Server,
  look: (request: IncomingMessage, response: ServerResponse, handOn: RequestListener) => void,
): void {
  const answers = server.listeners('request');
  server.removeAllListeners('request');
  const handOn: RequestListener = (request, response) => {
    for (const answer of answers) Reflect.apply(answer, server, [request, response]);
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => look(request, response, handOn));
}

/** This machine's own names and addresses, and a container's name for its host. */
const OWN = /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\]|host\.docker\.internal)$/iu;

/** Returns why a request is refused: a page whose name leads to this machine has the API's origin. */
export function whyOtherHost(host: string | undefined): string | undefined {
  if (host === undefined || OWN.test(host.replace(/:\d*$/u, ''))) return undefined;
  return `host: wanted localhost or 127.0.0.1, got ${JSON.stringify(host.slice(0, 100))}`;
}

/** Refuses web pages and other host names: SQS takes forms without a preflight, and dynalite allows every origin. */
export function refuseOthers(server: Server): void {
  standBefore(server, (request, response, handOn) => {
    const why = isOfPage(request.headers)
      ? 'origin: wanted a program that is no browser, got a web page'
      : whyOtherHost(request.headers.host);
    if (why === undefined) return handOn(request, response);
    response.writeHead(403, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ message: why }));
  });
}

/** A page's requests name their origin; those of images and links say where they come from. */
function isOfPage({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  return origin !== undefined || (site !== undefined && site !== 'none');
}

/** Refuses other users, where secrets are given out: to look whose a connection is takes 10 ms. */
export function refuseOtherUsers(server: Server): void {
  server.prependListener('connection', (socket: Socket) => {
    if (isOtherUsers(socket)) socket.destroy();
  });
}

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const ESTABLISHED = '01';
const ROOT = 0;

/** Only Linux says whose a connection is. */
function isOtherUsers(socket: Socket): boolean {
  if (process.platform !== 'linux') return false;
  const user = userIn(TABLES.map((table) => readFileSync(table, 'latin1')).join('\n'), socket);
  return user !== process.getuid?.() && user !== ROOT;
}

/** Returns the user at the other end; undefined for one that has closed it, whom the system no longer knows. */
export function userIn(
  tables: string,
  {
    remoteAddress = '',
    remotePort = 0,
    localPort = 0,
  }: Partial<Pick<Socket, 'remoteAddress' | 'remotePort' | 'localPort'>>,
): number | undefined {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');
  const address = Buffer.from(remoteAddress.split('.').map(Number)).reverse().toString('hex').toUpperCase();
  const [, user] =
    new RegExp(`${address}:${hex(remotePort)} \\S*:${hex(localPort)} ${ESTABLISHED}(?: +\\S+){3} +(\\d+)`, 'u').exec(
      tables,
    ) ?? [];
  return user === undefined ? undefined : Number(user);
}
