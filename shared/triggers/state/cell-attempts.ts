import { SchemalessError } from '../../errors.ts';
import { afterAttempt, answered, findCell, parkedCell, withCell } from './failing-cell.ts';
import type { FailingCell, TriggerStore } from './trigger-store.ts';
import { fits, type ShardChange, type TroubledShards } from './troubled-shards.ts';

type CellAttempts = Pick<TriggerStore, 'begin' | 'failed' | 'parkDead' | 'retryFailed' | 'succeeded' | 'takeRetry'>;

/** What attempts make of single cells, in the items of their shards. */
export function cellAttempts(shards: TroubledShards): CellAttempts {
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

    takeRetry: (wanted) =>
      changeCell(wanted.message.shard, wanted.message.added_id, (cell) =>
        cell?.parked_at !== undefined && cell.round === wanted.round
          ? {
              next: { ...cell, round: cell.round + 1, retry: 'sent', retried_at: new Date().toISOString() },
              result: true,
            }
          : { next: null, result: false },
      ),
  };
}
