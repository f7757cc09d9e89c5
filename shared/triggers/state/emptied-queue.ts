import { deleteState, readState, updateState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { pack, unpack } from '../../dynamo/change-item.ts';
import type { ConsumedLocation } from './consumed-marks.ts';
import { emptiedKey, type TriggerName } from './trigger-items.ts';

/** How far a queue had been sent to when it was found empty. */
export interface EmptiedQueue {
  /** When that was read, by `Date.now()`. */
  readonly at: number;
  /** The trigger's `changed_at` at that time. */
  readonly changed_at: string | undefined;
  /** Of shards where that is further than known to be consumed. */
  readonly sent: readonly (readonly [shard: number, location: ConsumedLocation])[];
}

/** Stores it for the next worker: one lives a minute, and SQS may count later than that. */
export function emptiedQueue(table: DynamoTable, name: TriggerName) {
  const key = emptiedKey(name);
  return {
    read: async (): Promise<EmptiedQueue | undefined> =>
      unpack<EmptiedQueue | undefined>((await readState(table, key))?.['emptied'], undefined),
    async write(emptied: EmptiedQueue): Promise<void> {
      const values = { ':emptied': { B: pack(emptied) } };
      await updateState(table, { key, update: 'SET #emptied = :emptied', values });
    },
    async forget(): Promise<void> {
      await deleteState(table, key);
    },
  };
}
