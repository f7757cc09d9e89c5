import { setTimeout as sleep } from 'node:timers/promises';
import { SchemalessError } from '../../shared/errors.ts';

/** How long a request is retried while the store answers "not now". */
const PERSIST_MS = 60_000;

/** Repeats a request that failed in a way that passes. Every request of the store can be repeated safely. */
export async function persist<Result>(signal: AbortSignal, request: () => Promise<Result>): Promise<Result> {
  // Clock: the limit only ends a hang.
  const end = Date.now() + PERSIST_MS;
  for (let pause = 50; ; pause = Math.min(1000, pause * 2)) {
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      // Clock: as above.
      if (!(error instanceof SchemalessError) || error.retry === 'never' || Date.now() + pause > end) throw error;
    }
    // Clock: the pause before a retry.
    await sleep(pause, undefined, { signal });
  }
}
