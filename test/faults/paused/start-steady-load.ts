import { allWritten } from '../load/ledger.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import type { Steady, SteadyLoad } from './steady-load.ts';

export interface SteadyWriters extends Disposable {
  readonly ready: Promise<void>;
  /** Returns once all calls have ended. */
  stop(): Promise<Steady>;
}

const WRITERS_A_THREAD = 8;

/** Starts writers, in threads: each thread is an instance of the store of its own, with its own circuits. */
export function startSteadyLoad({ writers, ...options }: Omit<SteadyLoad, 'first'>): SteadyWriters {
  const threads = Array.from({ length: Math.ceil(writers / WRITERS_A_THREAD) }, (_, place) => {
    const first = place * WRITERS_A_THREAD;
    const input: SteadyLoad = { ...options, first, writers: Math.min(WRITERS_A_THREAD, writers - first) };
    return startWorker<SteadyLoad, 'stop', never, Steady>(new URL('steady-load.ts', import.meta.url), input);
  });
  return {
    ready: Promise.all(threads.map(({ ready }) => ready)).then(() => undefined),
    async stop() {
      const parts = await Promise.all(threads.map((thread) => thread.stop('stop')));
      return { written: allWritten(parts.map(({ written }) => written)), answers: parts.flatMap(({ answers }) => answers), trips: parts.flatMap(({ trips }) => trips) };
    },
    [Symbol.dispose]() {
      for (const thread of threads) thread[Symbol.dispose]();
    },
  };
}
