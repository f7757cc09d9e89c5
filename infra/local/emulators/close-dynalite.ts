import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Enough for single reads and writes in memory. */
const MOMENT_MS = 100;

/** Ends a dynalite, requests first: its database throws an uncaught error if closed during one. */
export async function closeDynalite(server: Server): Promise<void> {
  server.removeAllListeners('request');
  server.closeAllConnections();
  await sleep(MOMENT_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
