import { startWorker } from '../../support/workers/running-worker.ts';
import type { Mix } from './cell-source.ts';
import { allWritten, type Written } from './ledger.ts';
import type { PutLoad, PutProgress } from './put-load.ts';
import type { WriteTarget } from './write-target.ts';

export interface LoadOptions {
  readonly target: WriteTarget;
  readonly writers: number;
  readonly seed: string;
  readonly mix: Mix;
  /** Name of the run in histories. */
  readonly run: string;
  readonly history?: string | undefined;
  /** See `PutLoad`. */
  readonly apart?: boolean;
}

export interface Load extends Disposable {
  /** Settled once all writers write. */
  readonly ready: Promise<void>;
  /** Cells confirmed so far, about. */
  readonly acked: number;
  stop(): Promise<Written>;
}

const WRITERS_A_THREAD = 8;

/** Starts writers, in threads. */
export function startLoad({ writers, ...options }: LoadOptions): Load {
  const threads = Array.from({ length: Math.ceil(writers / WRITERS_A_THREAD) }, (_, place) => {
    const first = place * WRITERS_A_THREAD;
    const input: PutLoad = { ...options, history: options.history, first, writers: Math.min(WRITERS_A_THREAD, writers - first) };
    return startWorker<PutLoad, 'stop', PutProgress, Written>(new URL('put-load.ts', import.meta.url), input);
  });
  return {
    ready: Promise.all(threads.map(({ ready }) => ready)).then(() => undefined),
    get acked() {
      return threads.reduce((sum, { progress }) => sum + (progress?.acked ?? 0), 0);
    },
    stop: async () => allWritten(await Promise.all(threads.map((thread) => thread.stop('stop')))),
    [Symbol.dispose]() {
      for (const thread of threads) thread[Symbol.dispose]();
    },
  };
}
