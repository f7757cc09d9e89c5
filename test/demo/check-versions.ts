import { isDeepStrictEqual } from 'node:util';
import type { NewCell } from '../../shared/cell.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import { addressText, type Differences } from './differences.ts';
import { persist } from '../support/persist.ts';
import { recheck, type Wrong } from './recheck.ts';

/**
 * Lists the versions of every column given and compares: all cells, newest first, and no others. Where a reader
 * answered for a writer that is down, it is asked again.
 *
 * @param columns the cells of a column each, lowest ref key first
 * @returns how many columns were as they should be
 */
export async function checkVersions(
  store: DemoStore,
  columns: Iterable<readonly NewCell[]>,
  options: {
    readonly concurrency: number;
    readonly patienceMs: number;
    readonly signal: AbortSignal;
    readonly differences: Differences;
  },
): Promise<number> {
  let equal = 0;
  const check = async ([cells = []]: readonly (readonly NewCell[])[]): Promise<
    readonly Wrong<readonly NewCell[]>[]
  > => {
    const [first] = cells;
    if (first === undefined) return [];
    const page = await persist(options.signal, () => store.versions(first));
    const got = page.cells.map(({ row_key, column_name, ref_key, body }) => ({ row_key, column_name, ref_key, body }));
    if (isDeepStrictEqual(got, cells.toReversed()) && page.next === null) {
      equal += 1;
      options.differences.pass();
      return [];
    }
    const what = `versions: wanted ref keys ${refKeys(cells.toReversed())}, got ${refKeys(got)}${page.stale ? ', from a reader that may be behind' : ''}`;
    if (page.stale) return [{ item: cells, what }];
    options.differences.fail(addressText(first), what);
    return [];
  };
  for (const {
    item: [first],
    what,
  } of await recheck(columns, check, { ...options, size: 1 }))
    options.differences.fail(first ?? 'versions', what);
  return equal;
}

/** Of cells, for people to read. */
export function refKeys(cells: readonly { readonly ref_key: number }[]): string {
  return cells.length === 0 ? 'none' : cells.map((cell) => cell.ref_key).join(', ');
}
