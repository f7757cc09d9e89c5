import { isDeepStrictEqual } from 'node:util';
import type { NewCell } from '../../shared/cell.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import { persist } from '../support/persist.ts';
import type { Differences } from './differences.ts';
import { recheck, type Rechecking, type Wrong } from './recheck.ts';

type Column = readonly NewCell[];

/**
 * Lists the versions of every column given and compares: all cells, newest first, and no others.
 *
 * @param columns the cells of a column each, lowest ref key first
 * @returns how many columns were as they should be
 */
export async function checkVersions(
  store: DemoStore,
  columns: Iterable<Column>,
  options: Omit<Rechecking, 'size'> & { readonly differences: Differences },
): Promise<number> {
  let equal = 0;
  const check = async ([cells = []]: readonly Column[]): Promise<readonly Wrong<Column>[]> => {
    const [first] = cells;
    if (first === undefined) return [];
    const page = await persist(options.signal, () => store.versions(first));
    const got = page.cells.map(({ row_key, column_name, ref_key, body }) => ({ row_key, column_name, ref_key, body }));
    const stale = page.stale ? ', from a reader that may be behind' : '';
    if (!isDeepStrictEqual(got, cells.toReversed()) || page.next !== null)
      return [
        { item: cells, what: `versions: wanted ref keys ${refKeys(cells.toReversed())}, got ${refKeys(got)}${stale}` },
      ];
    equal += 1;
    options.differences.pass();
    return [];
  };
  for (const { item, what } of await recheck(columns, check, { ...options, size: 1 }))
    options.differences.fail(item[0] ?? 'versions', what);
  return equal;
}

/** Of cells, for people to read. */
function refKeys(cells: readonly { readonly ref_key: number }[]): string {
  return cells.length === 0 ? 'none' : cells.map((cell) => cell.ref_key).join(', ');
}
