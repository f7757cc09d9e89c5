import { groupBy } from '../../group-by.ts';
import type { CellLocation } from '../../api/trigger-shapes.ts';
import type { FailingCell } from './trigger-store.ts';
import type { ShardChange, TroubledShards } from './troubled-shards.ts';

/**
 * Changes parked cells, shard by shard, and returns how many; undefined removes a cell. `troubled`: the shards that may
 * have some.
 */
export function changeParked(
  shards: TroubledShards,
  troubled: readonly number[],
  wanted: readonly CellLocation[] | undefined,
  change: (cell: FailingCell) => FailingCell | undefined,
): Promise<number> {
  const ids = wanted && groupBy(wanted, ({ shard }) => shard);
  const isWanted = ({ message }: FailingCell): boolean =>
    !ids || ids.get(message.shard)?.some(({ added_id }) => added_id === message.added_id) === true;
  return changeCells(
    shards,
    ids ? troubled.filter((shard) => ids.has(shard)) : troubled,
    (cell) => isParked(cell) && isWanted(cell),
    change,
  );
}

/** Deletes the attempts of all cells that are not parked. */
export async function forgetAttempts(shards: TroubledShards, troubled: readonly number[]): Promise<void> {
  await changeCells(
    shards,
    troubled,
    (cell) => !isParked(cell),
    () => undefined,
  );
}

function isParked(cell: FailingCell): boolean {
  return cell.parked_at !== undefined;
}

async function changeCells(
  shards: TroubledShards,
  troubled: readonly number[],
  isConcerned: (cell: FailingCell) => boolean,
  change: (cell: FailingCell) => FailingCell | undefined,
): Promise<number> {
  let count = 0;
  for (const shard of troubled) {
    const { result } = await shards.change(shard, (before): ShardChange<number> => {
      const concerned = before.cells.filter(isConcerned).length;
      if (concerned === 0) return { result: 0 };
      const cells = before.cells.flatMap((cell) => (isConcerned(cell) ? (change(cell) ?? []) : cell));
      return { result: concerned, next: { ...before, cells } };
    });
    count += result;
  }
  return count;
}
