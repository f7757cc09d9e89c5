import type { FailingCell } from './trigger-store.ts';
import type { ShardChange, TroubledShards } from './troubled-shards.ts';

/** Names one cell of a trigger. */
export interface CellPlace {
  readonly shard: number;
  readonly added_id: number;
}

/**
 * Changes parked cells, shard by shard; with undefined one is taken out.
 *
 * @param troubled the shards that may have some
 * @param wanted those to change @default all
 * @returns how many were changed
 */
export async function changeParked(shards: TroubledShards, troubled: readonly number[], wanted: readonly CellPlace[] | undefined, change: (cell: FailingCell) => FailingCell | undefined): Promise<number> {
  const ids = wanted && Map.groupBy(wanted, ({ shard }) => shard);
  let count = 0;
  for (const shard of ids ? troubled.filter((shard) => ids.has(shard)) : troubled) {
    const chosen = ids && new Set(ids.get(shard)?.map(({ added_id }) => added_id));
    const { result } = await shards.change(shard, (before): ShardChange<number> => {
      const concerned = new Set(before.cells.filter((cell) => cell.parked_at !== undefined && (!chosen || chosen.has(cell.message.added_id))));
      if (concerned.size === 0) return { result: 0 };
      const cells = before.cells.flatMap((cell) => (concerned.has(cell) ? (change(cell) ?? []) : cell));
      return { result: concerned.size, next: { ...before, cells } };
    });
    count += result;
  }
  return count;
}
