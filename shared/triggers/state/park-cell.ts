import { afterAttempt, findCell, parkedCell, withCell } from './failing-cells.ts';
import { type TriggerMessage, isAtWork, type ParkEnd } from './trigger-store.ts';
import { toStatus, type triggerStatus } from './trigger-status.ts';
import { fits, type ShardChange, type TroubledShards } from './troubled-shards.ts';

interface ParkingLot extends Pick<ReturnType<typeof triggerStatus>, 'status' | 'stopRunning'> {
  readonly shards: TroubledShards;
  /** Parked cells that stop the trigger. */
  readonly stopAfterParked: number;
}

/**
 * Parks a cell while the trigger runs, and then counts the parked cells of all shards: of consumers that park at the
 * same
 * time the last one sees them all. The count is not stored, since two items cannot be changed at once.
 *
 * A shard's item holds some thousand cells: a full one stops the trigger and parks nothing.
 */
export async function parkCell(
  { status, stopRunning, shards, stopAfterParked }: ParkingLot,
  message: TriggerMessage,
  error: string,
): Promise<ParkEnd> {
  const seen = await status();
  if (!isAtWork(seen)) return 'not_running';
  const { result: parked, status: item } = await shards.change(message.shard, (before): ShardChange<boolean> => {
    const cell = findCell(before.cells, message.added_id);
    const cells = withCell(before.cells, message.added_id, parkedCell(afterAttempt(cell, message, 0, error)));
    return cell?.parked_at === undefined && !fits(cells)
      ? { result: false }
      : { result: true, next: { ...before, cells } };
  });
  if (!parked) {
    await stopRunning(seen, `shard ${message.shard} has as many parked cells as can be kept of one shard`);
    return 'not_running';
  }
  const after = toStatus(item);
  const count = (await shards.read(await shards.listed(after.troubled_blocks)))
    .flatMap(({ cells }) => cells)
    .filter(({ parked_at }) => parked_at !== undefined).length;
  if (count < stopAfterParked) return 'parked';
  await stopRunning(after, `${count} cells are parked, which stops it (stop_after_parked: ${stopAfterParked})`);
  return 'parked_and_stopped';
}
