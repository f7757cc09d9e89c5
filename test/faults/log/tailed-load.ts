import { setTimeout as sleep } from 'node:timers/promises';
import type { Role } from '../../../shared/cell.ts';
import type { Mix } from '../load/cell-source.ts';
import type { Written } from '../load/ledger.ts';
import { startLoad } from '../load/start-load.ts';
import type { WriteTarget } from '../load/write-target.ts';
import { startPressure } from '../pressure.ts';
import type { StoredLog } from '../stored-logs.ts';
import { startWorker, type RunningWorker } from '../../support/workers/running-worker.ts';
import type { LogEnds, LogReaders, SeenLog } from './log-readers.ts';
import type { LogAccess } from './log-source.ts';

export interface TailedLoad {
  readonly write: WriteTarget;
  readonly read: LogAccess;
  readonly shards: number;
  readonly seed: string;
  readonly mix: Mix;
  readonly seconds: number;
  /** Processes that take CPU time from everything else. */
  readonly busyProcesses: number;
  readonly history?: string | undefined;
  readonly signal: AbortSignal;
  /** What is stored once the writers have ended. */
  readonly stored: () => Promise<readonly StoredLog[]>;
  readonly say: (line: string) => void;
}

export interface TailedLoadResult {
  readonly written: Written;
  readonly stored: readonly StoredLog[];
  readonly readers: readonly SeenLog[];
}

export const WRITERS = 24;
export const READERS = 16;
const READER_THREADS = 4;
/** For readers to come to the end of the log. */
const PATIENCE_MS = 60_000;
const REPORT_SECONDS = 10;

/** Writers and log readers side by side, half of them on the writer, half on a reader. */
export async function runTailedLoad(run: TailedLoad): Promise<TailedLoadResult> {
  const { shards, seed, mix, seconds, history, signal, say } = run;
  using threads = startReaders(run.read, shards);
  await Promise.all(threads.workers.map(({ ready }) => ready));
  using load = startLoad(
    { target: run.write, writers: WRITERS, seed, cells: mix, run: 'log', history, apart: true },
    { signal },
  );
  await load.ready;
  using pressure = startPressure(run.busyProcesses);
  for (let second = 0; second < seconds; second += 1) {
    await sleep(1000, undefined, { signal });
    if ((second + 1) % REPORT_SECONDS === 0) say(`${load.acked.toLocaleString('en-US')} cells`);
  }
  const { written } = await load.stop();
  pressure[Symbol.dispose]();
  const stored = await run.stored();
  const ends: LogEnds = { heads: stored.map(({ ids }) => ids.at(-1) ?? 0), patienceMs: PATIENCE_MS };
  const readers = await Promise.all(threads.workers.map((thread) => thread.stop(ends)));
  return { written, stored, readers: readers.flat() };
}

function startReaders(
  log: LogAccess,
  shards: number,
): Disposable & { readonly workers: readonly RunningWorker<LogEnds, never, readonly SeenLog[]>[] } {
  const roles = Array.from({ length: READERS / READER_THREADS }, (_, place): Role =>
    place % 2 === 0 ? 'writer' : 'reader',
  );
  const workers = Array.from({ length: READER_THREADS }, () =>
    startWorker<LogReaders, LogEnds, never, readonly SeenLog[]>(new URL('log-readers.ts', import.meta.url), {
      log,
      shards,
      roles,
    }),
  );
  return {
    workers,
    [Symbol.dispose]() {
      for (const worker of workers) worker[Symbol.dispose]();
    },
  };
}
