import { isDeepStrictEqual } from 'node:util';
import type { NewCell } from '../../shared/cell.ts';
import type { DemoStore } from './demo-store.ts';
import { addressText, type Differences } from './differences.ts';
import { inParallel } from './parallel.ts';
import { persist } from './persist.ts';

/**
 * Lists the versions of every column given and compares: all cells, newest first, and no others.
 *
 * @param columns the cells of a column each, lowest ref key first
 * @returns how many columns were as they should be
 */
export async function checkVersions(
  store: DemoStore,
  columns: Iterable<readonly NewCell[]>,
  options: { readonly concurrency: number; readonly signal: AbortSignal; readonly differences: Differences },
): Promise<number> {
  let equal = 0;
  await inParallel(columns, options.concurrency, options.signal, async (cells) => {
    const [first] = cells;
    if (first === undefined) return;
    const page = await persist(options.signal, () => store.versions(first));
    const got = page.cells.map(({ row_key, column_name, ref_key, body }) => ({ row_key, column_name, ref_key, body }));
    if (isDeepStrictEqual(got, cells.toReversed()) && page.next === null) {
      equal += 1;
      options.differences.pass();
      return;
    }
    options.differences.fail(addressText(first), `versions: wanted ref keys ${refKeys(cells.toReversed())}, got ${refKeys(got)}`);
  });
  return equal;
}

function refKeys(cells: readonly { readonly ref_key: number }[]): string {
  return cells.length === 0 ? 'none' : cells.map((cell) => cell.ref_key).join(', ');
}
