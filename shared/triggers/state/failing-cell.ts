import { shorten } from './malformed-messages.ts';
import type { TriggerMessage } from './message.ts';
import type { FailingCell } from './trigger-store.ts';

const ERROR_CHARACTERS = 500;

/** The last error of a cell whose function was begun and has not answered. */
export const NO_ANSWER = 'it ended before it answered';

/**
 * A cell as it is after another attempt.
 *
 * @param more attempts to be counted
 * @param error undefined where the attempt is only begun
 */
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

/** The cell parked, since now or since it was. A retry that was sent has had its answer. */
export function parkedCell(cell: FailingCell): FailingCell {
  return { ...answered(cell), parked_at: cell.parked_at ?? new Date().toISOString() };
}

/** Without the retry that was sent; a wish for another one stays. */
export function answered(cell: FailingCell): FailingCell {
  const { retry, ...rest } = cell;
  return retry === 'wanted' ? cell : rest;
}

/** The cells of a shard with one of them exchanged, added, or with undefined taken out. */
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
