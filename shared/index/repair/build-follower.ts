import type { Follower } from '../../follow/follower.ts';
import { pauseFor } from '../../pause-for.ts';
import { columnsOf } from '../entry.ts';
import type { PhysicalIndex } from '../index-table.ts';
import type { RepairWork } from './repair-work.ts';
import { firstFailures, lastOf } from './repair-follower.ts';
import { repairRows } from './repair-rows.ts';

/** A slower page shows busy groups: a pause of half its time follows. */
const SLOW_MS = 2000;

export function buildName({ name, hash }: Pick<PhysicalIndex, 'name' | 'hash'>): string {
  return `build/${name}/${hash}`;
}

/** Builds a version of an index from the start of the logs. The build waits for faulty shards. */
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

export type Throttle = ReturnType<typeof throttleTo>;

export function throttleTo(cellsPerSecond: number) {
  let free = 0;
  return {
    async take(cells: number, signal: AbortSignal): Promise<void> {
      const wait = free - performance.now();
      free = Math.max(free, performance.now()) + (cells * 1000) / cellsPerSecond;
      if (wait > 0) await pauseFor(wait, signal);
    },
  };
}
