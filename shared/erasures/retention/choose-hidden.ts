import type { ErasureTarget } from '../../address.ts';
import type { ColumnOfRow, ColumnState } from '../statements/select-column-state.ts';

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
