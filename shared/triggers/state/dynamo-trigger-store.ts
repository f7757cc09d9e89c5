import type { DynamoTable } from '../../dynamo/table.ts';
import { cellAttempts } from './cell-attempts.ts';
import { consumedMarks } from './consumed-marks.ts';
import { malformedMessages } from './malformed-messages.ts';
import { parkCell } from './park-cell.ts';
import { changeParked, forgetAttempts } from './parked-cells.ts';
import type { TriggerName } from './trigger-items.ts';
import {
  beginQueue,
  confirmSound,
  markRewound,
  markSkipped,
  readStatus,
  wantResend,
  writeState,
} from './trigger-status.ts';
import type { TriggerStatus, TriggerStore } from './trigger-store.ts';
import { troubledShards, type ShardChange } from './troubled-shards.ts';

/** The state of a trigger in the state table: see `trigger-items.ts`. */
export function triggerStore(table: DynamoTable, name: TriggerName): TriggerStore {
  const shards = troubledShards(table, name);
  const malformed = malformedMessages(table, name);
  const status = (): Promise<TriggerStatus> => readStatus(table, name);
  const troubled = async (): Promise<readonly number[]> => (await status()).troubled;

  return {
    status,
    setState: (state, reason) => writeState(table, name, state, reason),
    async resume() {
      await forgetAttempts(shards, await troubled());
      await writeState(table, name, 'running');
    },
    markRewound: (at) => markRewound(table, name, at),
    markSkipped: (skipped) => markSkipped(table, name, skipped),
    consumed: consumedMarks(table, name),
    confirmSound: () => confirmSound(table, name),
    beginQueue: (queueUrl, soundAt) => beginQueue(table, name, queueUrl, soundAt),
    wantResend: (wish) => wantResend(table, name, wish),
    shards: (numbers) => shards.read(numbers),

    ...cellAttempts(shards),
    park: (message, error, stopAfterParked) => parkCell({ table, name, shards, stopAfterParked }, message, error),

    async mark(shard, addedId) {
      const mark = addedId === undefined ? undefined : { added_id: addedId, at: new Date().toISOString() };
      await shards.change(shard, ({ mark: before, cells }): ShardChange<void> => {
        if (!mark && !before) return { result: undefined };
        return { result: undefined, next: { cells, ...(mark && { mark }) } };
      });
    },

    parkMalformed: (message) => malformed.add(message),
    malformed: () => malformed.list(),

    wantRetry: async (cells) => changeParked(shards, await troubled(), cells, (cell) => ({ ...cell, retry: 'wanted' })),

    async discard(cells) {
      const discarded = await changeParked(shards, await troubled(), cells, () => undefined);
      return cells ? discarded : discarded + (await malformed.clear());
    },
  };
}
