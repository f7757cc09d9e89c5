import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { closeDynalite } from './close-dynalite.ts';
import type { Emulator } from './emulator.ts';
import { openDynalite } from './open-dynalite.ts';

/** Starts DynamoDB (dynalite, mended) on the loopback interface, with its tables in a folder. */
export async function startDynamoDb(folder: string, port: number): Promise<Emulator> {
  mkdirSync(folder, { recursive: true });
  const server = openDynalite(folder);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('DynamoDB: wanted a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () => closeDynalite(server),
  };
}
