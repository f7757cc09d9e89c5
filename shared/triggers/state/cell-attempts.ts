import { SchemalessError } from '../../errors.ts';
import { afterAttempt, answered, findCell, parkedCell, withCell } from './failing-cell.ts';
import type { TriggerMessage } from './message.ts';
import type { FailingCell, TroubledShard } from './trigger-store.ts';
import { fits, type ShardChange, type TroubledShards } from './troubled-shards.ts';

interface CellChange<T> {
  /** Undefined removes the cell, null leaves it as it is. */
  readonly next: FailingCell | undefined | null;
  /** Of its shard; undefined removes it. @default as it was */
  readonly mark?: TroubledShard['mark'] | undefined;
  readonly result: T;
}

export function cellAttempts(shards: TroubledShards) {
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
    /** Counts an attempt before it is made, in case it ends the process. Returns how many there were before. */
    begin: (message: TriggerMessage): Promise<number> =>
      changeCell(message.shard, message.added_id, (cell) => ({
        next: afterAttempt(cell, message, 1, undefined),
        result: cell?.attempts ?? 0,
      })),

    /** Counts a failure (unless `begin` did) and returns the attempts; `marks`: the first marks its shard. */
    failed: (message: TriggerMessage, error: string, counted: boolean, { marks = false } = {}): Promise<number> =>
      changeCell(message.shard, message.added_id, (cell) => {
        const next = afterAttempt(cell, message, counted && cell ? 0 : 1, error);
        const mark = { added_id: message.added_id, at: new Date().toISOString() };
        return { next, result: next.attempts, ...(marks && next.attempts === 1 && { mark }) };
      }),

    /** Parks a cell that SQS gave up on, to be sent again soon. Throws if its shard has no room. */
    async parkDead(message: TriggerMessage, error: string): Promise<void> {
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

    /** Keeps a cell parked whose replay failed, with the new error and one more attempt. */
    retryFailed: (message: TriggerMessage, error: string): Promise<void> =>
      changeCell(message.shard, message.added_id, (cell) => ({
        next: cell?.parked_at === undefined ? null : answered(afterAttempt(cell, message, 1, error)),
        result: undefined,
      })),

    /** Deletes a cell that had failed; with `keepsUp` its shard's mark too. */
    succeeded: (message: TriggerMessage, { keepsUp = false } = {}): Promise<void> =>
      changeCell(message.shard, message.added_id, (cell) => ({
        next: cell ? undefined : null,
        result: undefined,
        ...(keepsUp && { mark: undefined }),
      })),

    /** Takes a retry that was requested or is due, under the next round; returns false if another worker did. */
    takeRetry: (wanted: FailingCell): Promise<boolean> =>
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
