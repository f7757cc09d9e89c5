import type { RunWorld } from '../../support/run-world.ts';
import { comes } from '../../support/until.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { allWritten } from './ledger.ts';
import type { Loaded, LoadInput, LoadProgress } from './load-thread.ts';
import { sumOf } from '../fault-run.ts';

export interface LoadOptions extends Omit<LoadInput, 'writers'> {
  readonly writers: number;
  /** The instances of the store, with circuits of their own. @default one for every eight writers */
  readonly threads?: number;
}

export interface Load extends Disposable {
  /** Settled once all writers write. */
  readonly ready: Promise<void>;
  /** Cells confirmed so far, approximately. */
  readonly acked: number;
  /** Writes answered so far, approximately. */
  readonly answers: number;
  /**
   * Continues until this many cells are confirmed; returns whether they were in time. @param patienceMs @default
   * unlimited
   */
  untilAcked(cells: number, patienceMs?: number): Promise<boolean>;
  /** Returns once all calls, and all retries, are answered. */
  stop(): Promise<Loaded>;
}

const WRITERS_A_THREAD = 8;

/** Starts writers, in threads. */
export function startLoad(
  { writers, threads: count = Math.ceil(writers / WRITERS_A_THREAD), ...options }: LoadOptions,
  { signal }: Pick<RunWorld, 'signal'>,
): Load {
  const numbers = Array.from({ length: writers }, (_, number) => number);
  const each = Math.ceil(writers / count);
  const threads = Array.from({ length: count }, (_, thread) => {
    const own = numbers.slice(thread * each, (thread + 1) * each);
    const input: LoadInput = { ...options, writers: own };
    return startWorker<LoadInput, 'stop', LoadProgress, Loaded>(new URL('load-thread.ts', import.meta.url), input);
  });
  const sum = (what: keyof LoadProgress): number => sumOf(threads.map(({ progress }) => progress?.[what] ?? 0));
  const load: Load = {
    ready: Promise.all(threads.map(({ ready }) => ready)).then(() => undefined),
    get acked() {
      return sum('acked');
    },
    get answers() {
      return sum('answers');
    },
    untilAcked: (cells, patienceMs) =>
      comes(() => load.acked >= cells, { signal, ...(patienceMs !== undefined && { patienceMs }) }),
    async stop() {
      const parts = await Promise.all(threads.map((thread) => thread.stop('stop')));
      return {
        written: allWritten(parts.map(({ written }) => written)),
        answers: parts.flatMap(({ answers }) => answers),
        openings: parts.flatMap(({ openings }) => openings),
        samples: parts.flatMap(({ samples }) => samples),
      };
    },
    [Symbol.dispose]() {
      for (const thread of threads) thread[Symbol.dispose]();
    },
  };
  return load;
}
