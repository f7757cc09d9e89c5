import { setTimeout as sleep } from 'node:timers/promises';
import { SqlError } from './client.ts';

const PAUSE_MS = 20;

/** Retries what a deadlock or a lock wait rolled back, after a short pause. `tries`: in all. Throws the last error. */
export async function retryContention<T>(tries: number, ask: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof SqlError) || error.failure !== 'contention' || tried === tries) throw error;
      await sleep(PAUSE_MS * (0.5 + Math.random()));
    }
  }
}
