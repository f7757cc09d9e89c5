import type { Follower } from '../../follow/follower.ts';
import { pauseFor } from '../../pause-for.ts';
import { columnsOf } from '../entry.ts';
import type { PhysicalIndex } from '../index-table.ts';
import type { RepairWork } from './repair-work.ts';
import { firstFailures, lastOf } from './repair-follower.ts';
import { repairRows } from './repair-rows.ts';

/** A page that takes longer shows that its groups have enough to do: they get a pause of half that time. */
const SLOW_MS = 2000;

export function buildName({ name, hash }: Pick<PhysicalIndex, 'name' | 'hash'>): string {
  return `build/${name}/${hash}`;
}

/**
 * Builds one version of an index from the start of the logs. Goes on where it stopped, by its offsets. A shard whose
 * rows cannot be read, or whose entries cannot be written, waits, and the build with it: nobody reads them yet.
 */
export function buildFollower(
  work: RepairWork,
  index: PhysicalIndex,
  throttle: Throttle,
  signal: AbortSignal,
): Follower {
  const { datastore } = work;
  const tellWaiting = firstFailures(work, `building ${index.name}, shard`);
  return {
    name: buildName(index),
    datastore,
    columns: columnsOf(index.definition),
    start: 'start',
    async handle(_group, cells) {
      await throttle.take(cells.length, signal);
      const start = performance.now();
      const { missed, unread, mistyped } = await repairRows(work, [index], cells);
      const waiting = new Map(unread);
      for (const [group, rows] of missed)
        for (const { shard, row_key } of cells)
          if (rows.has(row_key)) waiting.set(shard, new Error(`${group} cannot take entries of ${index.name}`));
      tellWaiting(cells, waiting);
      work.mistyped.add(mistyped);
      const took = performance.now() - start;
      if (took > SLOW_MS) await pauseFor(took / 2, signal);
      return lastOf(cells, waiting);
    },
  };
}

/** Spreads work over time, whoever does it. */
export interface Throttle {
  take(cells: number, signal: AbortSignal): Promise<void>;
}

export function throttleTo(cellsPerSecond: number): Throttle {
  let free = 0;
  return {
    async take(cells, signal) {
      const wait = free - performance.now();
      free = Math.max(free, performance.now()) + (cells * 1000) / cellsPerSecond;
      if (wait > 0) await pauseFor(wait, signal);
    },
  };
}
