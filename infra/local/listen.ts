import { once } from 'node:events';
import type { Server } from 'node:http';

/** Listens and returns the port; 0 asks for any free one. Throws an Error that names the flag. */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new Error(`--port: wanted a free port, got ${port}, which is in use or not allowed`, { cause });
  }
  const address = server.address();
  return typeof address === 'object' && address ? address.port : port;
}
