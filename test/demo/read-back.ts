import { isDeepStrictEqual } from 'node:util';
import type { NewCell, Role } from '../../shared/cell.ts';
import { getAll } from '../../shared/client/get-all.ts';
import type { BatchItem } from '../../shared/contract/datastore.ts';
import { describe } from '../../shared/errors.ts';
import { CONCURRENCY, recheck, recheckEach, type Checking, type Wrong } from './recheck.ts';
import type { Acknowledged } from './write.ts';

interface ReadBackOptions extends Checking {
  /** @default 'writer' */
  readonly read?: Role;
  /** Ask for the latest cell of each column, of which the cells given are to be it. @default false: by address */
  readonly latest?: boolean;
}

/** Reads cells back and compares. Returns how many were equal. */
export async function readBack(
  cells: readonly NewCell[],
  written: Acknowledged,
  options: ReadBackOptions,
): Promise<number> {
  const { store, differences, signal, read = 'writer', latest = false } = options;
  const check = async (some: readonly NewCell[]): Promise<readonly Wrong<NewCell>[]> => {
    const keys = some.map(({ row_key, column_name, ref_key }) =>
      latest ? { row_key, column_name } : { row_key, column_name, ref_key },
    );
    const items = await getAll(store, keys, { read, concurrency: CONCURRENCY, signal });
    return some.flatMap((item, position) => {
      const what = difference(item, items[position] ?? null, read);
      return what === undefined ? [] : [{ item, what }];
    });
  };
  const wrong = await recheck(cells, check, options);
  for (const { item, what } of wrong) differences.fail(item, `${what} ${askedText(read, written, item)}`);
  return cells.length - wrong.length;
}

/** Returns the error in an answer; undefined if there is none. */
function difference(cell: NewCell, item: BatchItem, read: Role): string | undefined {
  if (item === null) return 'not found';
  if ('error' in item) return `${item.error.code}: ${item.error.message}`;
  if (item.row_key !== cell.row_key || item.column_name !== cell.column_name)
    return `got the cell ${item.row_key}/${item.column_name}`;
  if (item.ref_key !== cell.ref_key) return `got ref key ${item.ref_key}`;
  if (!isDeepStrictEqual(item.body, cell.body)) return `another body, ${describe(item.body)}`;
  return item.served_by === read ? undefined : `answered by the ${item.served_by}`;
}

/** Behind what is wrong with a cell: "(asked the writer; its put was answered buffered)". */
export function askedText(read: Role, written: Acknowledged, cell: NewCell): string {
  return `(asked the ${read}${written.get(cell) === 'buffered' ? '; its put was answered buffered' : ''})`;
}

type Column = readonly NewCell[];

/** The cells of each column of each row, lowest ref key first; without columns of which not all was acknowledged. */
export function columnsOf(cells: readonly NewCell[], written: Acknowledged): readonly Column[] {
  return [...Map.groupBy(cells, ({ row_key, column_name }) => `${row_key}/${column_name}`).values()]
    .filter((column) => column.every((cell) => written.has(cell)))
    .map((column) => column.toSorted((one, other) => one.ref_key - other.ref_key));
}

/** Lists the versions of columns and compares: all cells, newest first, and no others. Returns how many were so. */
export async function checkVersions(columns: readonly Column[], checking: Checking): Promise<number> {
  const { store, differences } = checking;
  const check = async (column: Column): Promise<string | undefined> => {
    const [{ row_key, column_name }] = column as readonly [NewCell];
    const page = await store.versions({ row_key, column_name });
    const got = page.cells.map(({ ref_key, body }) => ({ row_key, column_name, ref_key, body }));
    if (isDeepStrictEqual(got, column.toReversed()) && page.next === null) return undefined;
    const stale = page.stale ? ', from a reader that may be behind' : '';
    return `versions: wanted ref keys ${refKeys(column.toReversed())}, got ${refKeys(got)}${stale}`;
  };
  const wrong = await recheckEach(columns, check, checking);
  for (const { item, what } of wrong) differences.fail(item[0] as NewCell, what);
  return columns.length - wrong.length;
}

/** Of cells, for people to read. */
function refKeys(cells: readonly { readonly ref_key: number }[]): string {
  return cells.length === 0 ? 'none' : cells.map((cell) => cell.ref_key).join(', ');
}
