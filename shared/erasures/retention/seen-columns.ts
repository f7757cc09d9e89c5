import { ERASABLE_NAME_BYTES, isErasureName, type ErasureTarget } from '../../address.ts';
import type { ColumnFrom, ColumnState, ColumnOfRow } from '../statements/select-column-state.ts';
import type { WrittenCell } from '../statements/select-written.ts';
import { VERSIONS_AT_ONCE } from './erase-hidden.ts';

/** A column that may have cells out of their retention. */
export interface SeenColumn extends ColumnFrom {
  /** Ref keys of its cells that are known to be too old. */
  readonly aged: readonly number[];
  /** Earlier versions had enough to erase. @default not yet */
  readonly isBegun?: boolean;
}

/** Returns whether versions beyond those of a state may be out of their retention, and nothing else finds them. */
export function hasMore({ aged }: SeenColumn, { versions }: ColumnState): boolean {
  return versions.length === VERSIONS_AT_ONCE && aged.length === 0 && versions.at(-1)?.isPutOut === true;
}

/**
 * Returns the columns of cells. `head`: the last added id of the log, up to which a column covers its cells; undefined
 * if only these cells count. `seen`: columns, and the added id up to which each was searched.
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

/** The most columns kept in memory. */
const MOST_SEEN = 100_000;

/** Returns whether a column can be erased: the name of an erasure is a byte longer than its column's. */
export function canBeErased(column: string): boolean {
  return !isErasureName(column) && Buffer.byteLength(column) <= ERASABLE_NAME_BYTES;
}

/**
 * Returns the erasures of a column: one of all versions that newer ones put out, and one of each aged cell. An erasure
 * of versions covers cells below its last that are appended before it, as well. Newer ones put these out, but they
 * would not be aged. `least`: the bodies that make an erasure worth its own cell in the log. `aged`: ref keys of bodies
 * known to be too old, which may lie beyond `versions`.
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
