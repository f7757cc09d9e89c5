import { ERASABLE_NAME_BYTES, isErasureName } from '../../address.ts';
import type { ColumnFrom, ColumnState } from '../statements/select-column-state.ts';
import type { WrittenCell } from '../statements/select-written.ts';
import { VERSIONS_AT_ONCE } from './erase-hidden.ts';

/** A column in which something may be out of its retention. */
export interface SeenColumn extends ColumnFrom {
  /** Ref keys of cells of it that are known to be too old. */
  readonly aged: readonly number[];
  /** There was enough to erase before these versions. @default not yet */
  readonly isBegun?: boolean;
}

/** Whether versions behind those of a state may be out of their retention, which nobody else tells of. */
export function hasMore({ aged }: SeenColumn, { versions }: ColumnState): boolean {
  return versions.length === VERSIONS_AT_ONCE && aged.length === 0 && versions.at(-1)?.isPutOut === true;
}

/**
 * The columns of cells. `head`: how far the log goes: cells up to there are seen with their column. Undefined where
 * they are meant themselves. `seen`: columns, and up to where.
 */
export function columnsOf(
  cells: readonly WrittenCell[],
  head: number | undefined,
  seen: Map<string, number>,
): readonly SeenColumn[] {
  const columns = new Map<string, { row_key: string; column_name: string; aged: number[] }>();
  for (const { added_id, row_key, column_name, ref_key } of cells) {
    const key = `${row_key}/${column_name}`;
    if (head !== undefined && added_id <= (seen.get(key) ?? 0)) continue;
    const column = columns.get(key) ?? { row_key, column_name, aged: [] };
    if (head === undefined) column.aged.push(ref_key);
    columns.set(key, column);
  }
  if (head === undefined) return [...columns.values()];
  if (seen.size > MOST_SEEN) seen.clear();
  for (const key of columns.keys()) seen.set(key, head);
  return [...columns.values()];
}

/** They are kept in memory. */
const MOST_SEEN = 100_000;

/** The name of an erasure is a byte longer than its column's. */
export function canBeErased(column: string): boolean {
  return !isErasureName(column) && Buffer.byteLength(column) <= ERASABLE_NAME_BYTES;
}
