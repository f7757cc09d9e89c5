import { LIMITS } from '../../cell.ts';
import type { ErasureTarget } from '../../erasure-name.ts';
import type { ColumnOfRow, ColumnState, VersionState } from '../statements/select-column-state.ts';

/** What is to be erased of a column, and how many bodies it has of that. */
export interface HiddenPart {
  readonly target: ErasureTarget;
  readonly bodies: number;
}

/**
 * What is to be erased of a column: one erasure of all versions up to the last before the first that is kept. What is out
 * of its retention behind one that is kept, as where ref keys do not rise with time, is erased cell by cell.
 *
 * @param least bodies that make it worth an erasure, which takes a place in the log itself
 * @param aged ref keys of bodies that are known to be out of their retention: they may lie behind what `versions` has
 */
export function chooseHidden(
  { row_key, column_name }: ColumnOfRow,
  { erasedTo, versions }: ColumnState,
  least: number,
  aged: readonly number[],
): readonly HiddenPart[] {
  const column = { row_key, column_name };
  const found = versions.filter(({ isHidden, hasBody }) => isHidden && hasBody).map(({ ref_key }) => ref_key);
  const hidden = new Set([...found, ...aged]);
  if (hidden.size < Math.max(1, least)) return [];
  // An erasure up to the highest ref key would close the column.
  const isInTheWay = ({ isHidden, ref_key }: VersionState): boolean => !isHidden || ref_key === LIMITS.refKey;
  const kept = versions.findIndex(isInTheWay);
  const first = kept < 0 ? versions : versions.slice(0, kept);
  const last = first.findLast(({ hasBody }) => hasBody);
  const parts: HiddenPart[] = [];
  if (last)
    parts.push({
      target: { ...column, up_to: last.ref_key, ...(erasedTo >= 0 && { beyond: erasedTo }) },
      bodies: first.filter(({ hasBody }) => hasBody).length,
    });
  for (const ref_key of hidden)
    if (!last || ref_key > last.ref_key) parts.push({ target: { ...column, ref_key }, bodies: 1 });
  return parts;
}
