import type { ShardHead } from '../contract/datastore.ts';
import type { ShardSize } from '../contract/shard-plan.ts';

/** Fewer cells than that, in all shards, say nothing of where they come next. */
const LEAST_CELLS = 1000;

/**
 * Cells written a second, by shard: what their logs grew by between two looks. None where too little was written to
 * tell.
 *
 * @param seconds between the looks
 */
export function shardRates(
  before: readonly ShardSize[],
  after: readonly ShardHead[],
  seconds: number,
): ReadonlyMap<number, number> {
  const heads = new Map(after.map((head) => [head.shard, head.error ? undefined : head.head]));
  const grown = before.map((size): readonly [number, number] => {
    const head = heads.get(size.shard);
    return [size.shard, size.error || head === undefined ? 0 : Math.max(0, head - size.cells)];
  });
  const all = grown.reduce((sum, [, cells]) => sum + cells, 0);
  return new Map(all < LEAST_CELLS || seconds <= 0 ? [] : grown.map(([shard, cells]) => [shard, cells / seconds]));
}
