import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Ample for what was begun: single reads and writes in memory. */
const MOMENT_MS = 100;

/**
 * Ends a dynalite. It throws, past everybody, where it is still at work on a request when its database closes: nobody
 * is heard any more first, and what was begun has a moment to end.
 */
export async function closeDynalite(server: Server): Promise<void> {
  server.removeAllListeners('request');
  server.closeAllConnections();
  await sleep(MOMENT_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
