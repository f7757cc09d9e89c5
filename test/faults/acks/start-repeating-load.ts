import { allWritten } from '../load/ledger.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import type { Repeated, RepeatingLoad, RepeatingProgress } from './repeating-load.ts';

export interface RepeatingWriters extends Disposable {
  readonly ready: Promise<void>;
  /** Cells confirmed so far, about. */
  readonly acked: number;
  /** Returns once everything is told. */
  stop(): Promise<Repeated>;
}

const WRITERS_A_THREAD = 8;

/** Starts writers, in threads: each thread is an instance of the store of its own, with its own circuits. */
export function startRepeatingLoad({ writers, ...options }: Omit<RepeatingLoad, 'first'>): RepeatingWriters {
  const threads = Array.from({ length: Math.ceil(writers / WRITERS_A_THREAD) }, (_, place) => {
    const first = place * WRITERS_A_THREAD;
    const input: RepeatingLoad = { ...options, first, writers: Math.min(WRITERS_A_THREAD, writers - first) };
    return startWorker<RepeatingLoad, 'stop', RepeatingProgress, Repeated>(new URL('repeating-load.ts', import.meta.url), input);
  });
  return {
    ready: Promise.all(threads.map(({ ready }) => ready)).then(() => undefined),
    get acked() {
      return threads.reduce((sum, { progress }) => sum + (progress?.acked ?? 0), 0);
    },
    async stop() {
      const parts = await Promise.all(threads.map((thread) => thread.stop('stop')));
      return {
        written: allWritten(parts.map(({ written }) => written)),
        answers: parts.flatMap(({ answers }) => answers),
        circuitsOpened: parts.reduce((sum, part) => sum + part.circuitsOpened, 0),
      };
    },
    [Symbol.dispose]() {
      for (const thread of threads) thread[Symbol.dispose]();
    },
  };
}
