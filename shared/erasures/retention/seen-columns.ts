import { ERASABLE_NAME_BYTES, isErasureName, type ErasureTarget } from '../../address.ts';
import type { ColumnFrom, ColumnState, ColumnOfRow } from '../statements/select-column-state.ts';
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

/**
 * What is to be erased of a column: one erasure of all versions that newer ones put out, and of what is too old one of
 * each cell. An erasure of versions takes all that is below its last, also what comes between this and its place in the
 * log: that would be put out, too, but it would not be too old. `least`: bodies that make it worth an erasure, which
 * takes a place in the log itself. `aged`: ref keys of bodies that are known to be too old: they may lie behind what
 * `versions` has.
 */
export function chooseHidden(
  { row_key, column_name }: ColumnOfRow,
  { erasedTo, versions }: ColumnState,
  least: number,
  aged: readonly number[],
): readonly ErasureTarget[] {
  const column = { row_key, column_name };
  const hidden = versions.filter(({ isHidden, hasBody }) => isHidden && hasBody);
  const all = new Set([...hidden.map(({ ref_key }) => ref_key), ...aged.filter((ref_key) => ref_key > erasedTo)]);
  if (all.size < Math.max(1, least)) return [];
  const last = hidden.findLast(({ isPutOut }) => isPutOut)?.ref_key ?? erasedTo;
  const range = { ...column, up_to: last, ...(erasedTo >= 0 && { beyond: erasedTo }) };
  return [
    ...(last > erasedTo ? [range] : []),
    ...[...all].filter((ref_key) => ref_key > last).map((ref_key) => ({ ...column, ref_key })),
  ];
}
