import { setTimeout as sleep } from 'node:timers/promises';
import type { Role } from '../../../shared/cell.ts';
import type { Mix } from '../load/cell-source.ts';
import type { Written } from '../load/ledger.ts';
import { startLoad } from '../load/start-load.ts';
import { fork } from 'node:child_process';
import type { StoredLog } from '../stored-cells.ts';
import { startWorker, type RunningWorker } from '../../support/workers/running-worker.ts';
import type { LogEnds, LogReaders, SeenLog } from './log-readers.ts';
import type { LogAccess } from './log-source.ts';
import { grouped, type RunWorld } from '../fault-run.ts';

export interface TailedLoad extends Pick<RunWorld, 'seed' | 'history' | 'signal' | 'say'> {
  /** What is written to, and read. */
  readonly target: LogAccess;
  readonly shards: number;
  readonly mix: Mix;
  readonly seconds: number;
  /** Processes that take CPU time from everything else. */
  readonly busyProcesses: number;
  /** What is stored once the writers have ended. */
  readonly stored: () => Promise<readonly StoredLog[]>;
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
  const { target, shards, seed, mix, seconds, history, signal, say } = run;
  using threads = startReaders(target, shards);
  await Promise.all(threads.workers.map(({ ready }) => ready));
  using load = startLoad({ target, writers: WRITERS, seed, cells: mix, run: 'log', history, apart: true }, { signal });
  await load.ready;
  using pressure = startPressure(run.busyProcesses);
  for (let second = 0; second < seconds; second += 1) {
    await sleep(1000, undefined, { signal });
    if ((second + 1) % REPORT_SECONDS === 0) say(`${grouped(load.acked)} cells`);
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
  const roles = Array.from({ length: READERS / READER_THREADS }, (_, position): Role =>
    position % 2 === 0 ? 'writer' : 'reader',
  );
  const module = new URL('log-readers.ts', import.meta.url);
  const workers = Array.from({ length: READER_THREADS }, () =>
    startWorker<LogReaders, LogEnds, never, readonly SeenLog[]>(module, { log, shards, roles }),
  );
  return {
    workers,
    [Symbol.dispose]() {
      for (const worker of workers) worker[Symbol.dispose]();
    },
  };
}

/** Keeps so many processes busy, until disposed: threads of writers and servers then stop at every place there is. */
function startPressure(processes: number): Disposable {
  const children = Array.from({ length: processes }, () =>
    fork(new URL('./busy-loop.ts', import.meta.url), { execArgv: [], stdio: 'ignore' }),
  );
  return {
    [Symbol.dispose]() {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}
