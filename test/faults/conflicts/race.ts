import { startWorker } from '../../support/workers/running-worker.ts';
import type { Raced, RacingLoad } from './racing-load.ts';

export interface Race extends Disposable {
  /** Settled once all writers write. */
  readonly ready: Promise<void>;
  /** Writes answered so far, about. */
  readonly answers: number;
  stop(): Promise<Raced>;
}

const THREADS = 3;
const WRITERS_EACH = 4;
export const WRITERS = THREADS * WRITERS_EACH;

/** Starts writers that race for the same addresses, in threads. */
export function startRace(options: Omit<RacingLoad, 'since' | 'writers'>): Race {
  const since = Date.now();
  const threads = Array.from({ length: THREADS }, (_, thread) => {
    const writers = Array.from({ length: WRITERS_EACH }, (_unused, place) => thread * WRITERS_EACH + place);
    return startWorker<RacingLoad, 'stop', { readonly answers: number }, Raced>(new URL('racing-load.ts', import.meta.url), { ...options, since, writers });
  });
  return {
    ready: Promise.all(threads.map(({ ready }) => ready)).then(() => undefined),
    get answers() {
      return threads.reduce((sum, { progress }) => sum + (progress?.answers ?? 0), 0);
    },
    async stop() {
      const raced = await Promise.all(threads.map((thread) => thread.stop('stop')));
      return { answers: raced.flatMap(({ answers }) => answers), samples: raced.flatMap(({ samples }) => samples) };
    },
    [Symbol.dispose]() {
      for (const thread of threads) thread[Symbol.dispose]();
    },
  };
}
