import { toSqlTime } from '../../time.ts';
import type { Statement } from '../client.ts';
import { appendRows, valuesOf, type EncodedCell, type ShardFence } from './append-cells.ts';

/** A cell that brings its time. */
export type RestoredEncodedCell = EncodedCell & Required<Pick<EncodedCell, 'stored_at'>>;

/**
 * Appends cells that were stored before, each with its own time: `append-cells` with other times.
 *
 * - A time never goes back within a shard: it is at least that of the shard's last cell, and of those before it in
 *   `cells`. That is known here: a window function would say it at a price that grows with the square of their number.
 * - NOW, not SYSDATE: all that is yet to come is stored with one time, that of the statement.
 *
 * @param cells of this shard, no address twice
 */
export function appendRestored(fence: ShardFence, cells: readonly RestoredEncodedCell[]): Statement {
  let latest = '';
  const values = cells.map((cell) => {
    if (cell.stored_at > latest) latest = cell.stored_at;
    return [...valuesOf(cell), toSqlTime(latest)];
  });
  return appendRows(fence, values, {
    first: ', CAST(? AS DATETIME(6)) AS created_at',
    next: ', CAST(? AS DATETIME(6))',
    time: "GREATEST(LEAST(new.created_at, NOW(6)), COALESCE(last.created_at, '1000-01-01'))",
  });
}

/** Whether a cell brings its time. */
export function isRestored(cell: EncodedCell): cell is RestoredEncodedCell {
  return cell.stored_at !== undefined;
}

/** Cells are restored together, or are all new. */
export function areRestored(cells: readonly EncodedCell[]): cells is readonly RestoredEncodedCell[] {
  return cells.every(isRestored);
}
