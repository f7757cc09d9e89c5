import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import dynalite from 'dynalite';
import { elsewhere, type Emulator } from './emulator.ts';

/** Starts DynamoDB (dynalite) on the loopback interface, with its tables in a folder. */
export async function startDynamoDb(folder: string): Promise<Emulator> {
  const other = elsewhere('AWS_ENDPOINT_URL_DYNAMODB');
  if (other) return other;
  mkdirSync(folder, { recursive: true });
  const server = dynalite({ path: folder, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('DynamoDB: wanted a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
