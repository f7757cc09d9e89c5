import { SchemalessError } from '../../errors.ts';
import { afterAttempt, answered, findCell, parkedCell, withCell } from './failing-cell.ts';
import type { FailingCell, TriggerStore, TroubledShard } from './trigger-store.ts';
import { fits, type ShardChange, type TroubledShards } from './troubled-shards.ts';

type CellAttempts = Pick<TriggerStore, 'begin' | 'failed' | 'parkDead' | 'retryFailed' | 'succeeded' | 'takeRetry'>;

interface CellChange<T> {
  /** Is written; undefined takes it out, null leaves it as it is. */
  readonly next: FailingCell | undefined | null;
  /** Of its shard from now on, undefined takes it away. @default as it was */
  readonly mark?: TroubledShard['mark'] | undefined;
  readonly result: T;
}

export function cellAttempts(shards: TroubledShards): CellAttempts {
  async function changeCell<T>(
    shard: number,
    addedId: number,
    change: (cell: FailingCell | undefined) => CellChange<T>,
  ): Promise<T> {
    const { result } = await shards.change(shard, (before): ShardChange<T> => {
      const { next, result, ...changed } = change(findCell(before.cells, addedId));
      if (next === null && !('mark' in changed && before.mark)) return { result };
      const cells = next === null ? before.cells : withCell(before.cells, addedId, next);
      const mark = 'mark' in changed ? changed.mark : before.mark;
      return { result, next: { cells, ...(mark && { mark }) } };
    });
    return result;
  }

  return {
    begin: (message) =>
      changeCell(message.shard, message.added_id, (cell) => ({
        next: afterAttempt(cell, message, 1, undefined),
        result: cell?.attempts ?? 0,
      })),

    failed: (message, error, counted, { marks = false } = {}) =>
      changeCell(message.shard, message.added_id, (cell) => {
        const next = afterAttempt(cell, message, counted && cell ? 0 : 1, error);
        const mark = { added_id: message.added_id, at: new Date().toISOString() };
        return { next, result: next.attempts, ...(marks && next.attempts === 1 && { mark }) };
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

    succeeded: (message, { keepsUp = false } = {}) =>
      changeCell(message.shard, message.added_id, (cell) => ({
        next: cell ? undefined : null,
        result: undefined,
        ...(keepsUp && { mark: undefined }),
      })),

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
