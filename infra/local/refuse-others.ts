import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { Socket } from 'node:net';
import { whyOtherHost } from './host.ts';
import { standBefore } from './stand-before.ts';

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
