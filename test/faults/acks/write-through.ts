import { setTimeout as sleep } from 'node:timers/promises';
import type { Mix } from '../load/cell-source.ts';
import type { Repeated, RepeatingLoad } from './repeating-load.ts';
import { startRepeatingLoad } from './start-repeating-load.ts';

const WRITERS = 16;
/** About one cell in ten is a repeat, beside those of what was unclear. */
export const MIX: Mix = { batchShare: 0.2, batchSize: 6, repeatShare: 0.1 };
const POLL_MS = 50;
const PATIENCE_MS = 120_000;

/** Writes until so many cells are confirmed, and everything is told that is to be told. */
export async function writeThrough(load: Omit<RepeatingLoad, 'first' | 'writers' | 'mix'>, cells: number, signal: AbortSignal): Promise<Repeated> {
  using writers = startRepeatingLoad({ ...load, mix: MIX, writers: WRITERS });
  await writers.ready;
  const end = performance.now() + PATIENCE_MS;
  while (writers.acked < cells && performance.now() < end) await sleep(POLL_MS, undefined, { signal });
  return await writers.stop();
}
