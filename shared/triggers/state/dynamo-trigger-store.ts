import type { CellLocation, TriggerState } from '../../api/trigger-shapes.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { cellAttempts, changeParked, forgetAttempts } from './failing-cells.ts';
import { consumedMarks, emptiedQueue } from './consumed-marks.ts';
import { malformedMessages } from './malformed-messages.ts';
import { parkCell } from './park-cell.ts';
import type { TriggerMessage, ParkEnd, TriggerStatus, TroubledShard } from './trigger-store.ts';
import type { TriggerName } from './trigger-items.ts';
import { triggerStatus } from './trigger-status.ts';
import { troubledShards, type ShardChange } from './troubled-shards.ts';

export type TriggerStore = ReturnType<typeof triggerStore>;

/** A trigger's state (`trigger-items.ts`), written for shards only on failures. Methods may be repeated. */
export function triggerStore(table: DynamoTable, name: TriggerName) {
  const shards = troubledShards(table, name);
  const malformed = malformedMessages(table, name);
  const status = triggerStatus(table, name);
  /** Returns the shards with an item, in order. */
  const troubled = async (known?: Pick<TriggerStatus, 'troubled_blocks'>): Promise<readonly number[]> =>
    shards.listed((known ?? (await status.status())).troubled_blocks);

  return {
    ...status,
    setState: (state: Exclude<TriggerState, 'running'>, reason?: string): Promise<void> =>
      status.writeState(state, reason),
    /** Resuming means that something was fixed, so the attempts of unparked cells restart at 0. */
    async resume(): Promise<void> {
      await forgetAttempts(shards, await troubled());
      await status.writeState('running');
    },
    consumed: consumedMarks(table, name),
    emptied: emptiedQueue(table, name),
    troubled,
    /** Reads shards in the order asked for; those without an item are left out. */
    shards: (numbers: readonly number[]): Promise<readonly TroubledShard[]> => shards.read(numbers),

    ...cellAttempts(shards),
    park: (message: TriggerMessage, error: string, stopAfterParked: number): Promise<ParkEnd> =>
      parkCell({ ...status, shards, stopAfterParked }, message, error),

    /** Marks how far the consumer of a shard is; undefined means that it keeps up. */
    async mark(shard: number, addedId: number | undefined): Promise<void> {
      const mark = addedId === undefined ? undefined : { added_id: addedId, at: new Date().toISOString() };
      await shards.change(shard, ({ mark: before, cells }): ShardChange<void> => {
        if (!mark && !before) return { result: undefined };
        return { result: undefined, next: { cells, ...(mark && { mark }) } };
      });
    },

    parkMalformed: malformed.add,
    malformed: malformed.list,

    /** Requests retries of parked cells, by default all, and returns how many there were. */
    wantRetry: async (cells?: readonly CellLocation[]): Promise<number> =>
      changeParked(shards, await troubled(), cells, (cell) => ({ ...cell, retry: 'wanted' })),

    /** Deletes parked cells, by default all and the malformed messages, and returns how many there were. */
    async discard(cells?: readonly CellLocation[]): Promise<number> {
      const discarded = await changeParked(shards, await troubled(), cells, () => undefined);
      return cells ? discarded : discarded + (await malformed.clear());
    },
  };
}
