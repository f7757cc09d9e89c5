import type { DrainCounts, DrainInput, DrainProgress } from './drain-thread.ts';
import { startWorker, type RunningWorker } from './running-worker.ts';

/** A thread that drains all buffer tables. */
export type Drain = RunningWorker<'stop', DrainProgress, DrainCounts>;

export function startDrain(input: DrainInput): Drain {
  return startWorker(new URL('drain-thread.ts', import.meta.url), input);
}
