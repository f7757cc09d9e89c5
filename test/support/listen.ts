import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Has a server listen on this machine, on a port that is free. @returns its URL */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
