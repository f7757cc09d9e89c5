import { shorten } from './malformed-messages.ts';
import type { TriggerMessage, FailingCell, TroubledShard } from './trigger-store.ts';
import { SchemalessError } from '../../errors.ts';
import { fits, type ShardChange, type TroubledShards } from './troubled-shards.ts';
import { groupBy } from '../../group-by.ts';
import type { CellLocation } from '../../api/trigger-shapes.ts';

const ERROR_CHARACTERS = 500;

/** The last error of a cell whose function began and has not answered. */
export const NO_ANSWER = 'it ended before it answered';

/** Returns a cell after `more` attempts; `error` is undefined if the attempt only begins. */
export function afterAttempt(
  before: FailingCell | undefined,
  message: TriggerMessage,
  more: number,
  error: string | undefined,
): FailingCell {
  const now = new Date().toISOString();
  const cell: FailingCell = before ?? {
    message,
    attempts: 0,
    first_failed_at: now,
    last_failed_at: now,
    last_error: NO_ANSWER,
    round: 0,
  };
  return {
    ...cell,
    attempts: cell.attempts + more,
    ...(error !== undefined && { last_failed_at: now, last_error: shorten(error, ERROR_CHARACTERS) }),
  };
}

/** Returns the cell parked, since now or since it was; a retry that was sent is answered. */
export function parkedCell(cell: FailingCell): FailingCell {
  return { ...answered(cell), parked_at: cell.parked_at ?? new Date().toISOString() };
}

/** Removes a retry that was sent; a requested one stays. */
function answered(cell: FailingCell): FailingCell {
  const { retry, ...rest } = cell;
  return retry === 'wanted' ? cell : rest;
}

/** Returns the cells with one replaced, added, or removed (undefined). */
export function withCell(
  cells: readonly FailingCell[],
  addedId: number,
  cell: FailingCell | undefined,
): readonly FailingCell[] {
  const others = cells.filter(({ message }) => message.added_id !== addedId);
  return cell ? [...others, cell] : others;
}

export function findCell(cells: readonly FailingCell[], addedId: number): FailingCell | undefined {
  return cells.find(({ message }) => message.added_id === addedId);
}

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
