import { SchemalessError } from '../../errors.ts';
import { updateState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { consumedMarks } from './consumed-marks.ts';
import { afterAttempt, answered, findCell, parkedCell, withCell } from './failing-cell.ts';
import { malformedMessages } from './malformed-messages.ts';
import { parkCell } from './park-cell.ts';
import { changeParked, forgetAttempts } from './parked-cells.ts';
import { statusKey, type TriggerName } from './trigger-items.ts';
import { beginQueue, readStatus, wantResend, writeState } from './trigger-status.ts';
import type { FailingCell, TriggerStatus, TriggerStore } from './trigger-store.ts';
import { fits, troubledShards, type ShardChange } from './troubled-shards.ts';

/** The state of a trigger in the state table: see `trigger-items.ts`. */
export function triggerStore(table: DynamoTable, name: TriggerName): TriggerStore {
  const shards = troubledShards(table, name);
  const malformed = malformedMessages(table, name);
  const status = (): Promise<TriggerStatus> => readStatus(table, name);
  const troubled = async (): Promise<readonly number[]> => (await status()).troubled;

  /** What `change` makes of one cell; the cell given is written, undefined takes it out, null leaves all as it is. */
  async function changeCell<T>(
    shard: number,
    addedId: number,
    change: (cell: FailingCell | undefined) => { readonly next: FailingCell | undefined | null; readonly result: T },
  ): Promise<T> {
    const { result } = await shards.change(shard, (before): ShardChange<T> => {
      const { next, result } = change(findCell(before.cells, addedId));
      return next === null ? { result } : { result, next: { ...before, cells: withCell(before.cells, addedId, next) } };
    });
    return result;
  }

  return {
    status,
    setState: (state, reason) => writeState(table, name, state, reason),
    async resume() {
      await forgetAttempts(shards, await troubled());
      await writeState(table, name, 'running');
    },
    markRewound: async (at) =>
      void (await updateState(table, {
        key: statusKey(name),
        update: 'SET #rewound_at = :at',
        values: { ':at': { S: at } },
      })),
    consumed: consumedMarks(table, name),
    confirmSound: async () =>
      void (await updateState(table, {
        key: statusKey(name),
        update: 'SET #sound_at = :now',
        values: { ':now': { S: new Date().toISOString() } },
      })),
    beginQueue: (queueUrl, soundAt) => beginQueue(table, name, queueUrl, soundAt),
    wantResend: (wish) => wantResend(table, name, wish),
    shards: (numbers) => shards.read(numbers),

    begin: (message) =>
      changeCell(message.shard, message.added_id, (cell) => ({
        next: afterAttempt(cell, message, 1, undefined),
        result: cell?.attempts ?? 0,
      })),

    failed: (message, error, counted) =>
      changeCell(message.shard, message.added_id, (cell) => {
        const next = afterAttempt(cell, message, counted && cell ? 0 : 1, error);
        return { next, result: next.attempts };
      }),

    park: (message, error, stopAfterParked) => parkCell({ table, name, shards, stopAfterParked }, message, error),

    async parkDead(message, error) {
      await shards.change(message.shard, (before): ShardChange<void> => {
        const cell = parkedCell(afterAttempt(findCell(before.cells, message.added_id), message, 1, error));
        const cells = withCell(before.cells, message.added_id, { ...cell, retry: 'wanted' });
        if (!fits(cells))
          throw new SchemalessError(
            'unavailable',
            `shard ${message.shard} has as many parked cells as can be kept of one shard: retry or discard some of them first`,
          );
        return { result: undefined, next: { ...before, cells } };
      });
    },

    retryFailed: (message, error) =>
      changeCell(message.shard, message.added_id, (cell) => ({
        next: cell?.parked_at === undefined ? null : answered(afterAttempt(cell, message, 1, error)),
        result: undefined,
      })),

    succeeded: (message) =>
      changeCell(message.shard, message.added_id, (cell) => ({ next: cell ? undefined : null, result: undefined })),

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

    takeRetry: (wanted) =>
      changeCell(wanted.message.shard, wanted.message.added_id, (cell) =>
        cell?.parked_at !== undefined && cell.round === wanted.round
          ? {
              next: { ...cell, round: cell.round + 1, retry: 'sent', retried_at: new Date().toISOString() },
              result: true,
            }
          : { next: null, result: false },
      ),

    async discard(cells) {
      const discarded = await changeParked(shards, await troubled(), cells, () => undefined);
      return cells ? discarded : discarded + (await malformed.clear());
    },
  };
}
