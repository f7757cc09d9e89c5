import { shorten } from './malformed-messages.ts';
import type { TriggerMessage } from './message.ts';
import type { FailingCell } from './trigger-store.ts';

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
export function answered(cell: FailingCell): FailingCell {
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
