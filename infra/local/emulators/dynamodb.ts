import { mkdirSync } from 'node:fs';
import { callsOfDynamoDb } from '../iam/calls-of.ts';
import { guardServer, refuseAsJson } from '../iam/guard-server.ts';
import { closeDynalite, openDynalite } from './open-dynalite.ts';
import type { Emulator } from './emulator.ts';
import { listen, refuseOthers } from '../server.ts';

/** Longer than any client's pause: Node's 5 s make idle clients reconnect ten times a second. */
const KEEP_ALIVE_MS = 10 * 60_000;

/** Starts DynamoDB (dynalite, with fixes) on the loopback interface, with its tables in a folder. */
export async function startDynamoDb(
  folder: string,
  port: number,
  onRefused: (why: string) => void = () => {},
): Promise<Emulator> {
  mkdirSync(folder, { recursive: true });
  const server = openDynalite(folder);
  const guard = guardServer(server, { callsOf: callsOfDynamoDb, refuse: refuseAsJson, onRefused });
  refuseOthers(server);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return {
    url: `http://127.0.0.1:${await listen(server, port)}`,
    setRights: async (rights) => guard.setRights(rights),
    close: () => closeDynalite(server),
  };
}
