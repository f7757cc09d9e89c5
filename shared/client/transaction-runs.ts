import type { CellOfRow, NewCell, RowTransaction, TransactionPlace } from '../cell.ts';
import { inBatches } from './batch-writer.ts';

interface Logged extends Pick<NewCell, 'row_key'> {
  readonly transaction?: TransactionPlace | undefined;
}

interface Run<Item> {
  /** The items are all cells of one transaction. */
  readonly isWhole: boolean;
  readonly items: readonly Item[];
}

/** Divides cells in the order of their log into whole transactions, and batches of the others, which are written alone. */
export function* transactionsAndBatches<Item>(
  items: readonly Item[],
  cellOf: (item: Item) => Logged,
  bytesOf: (item: Item) => number,
  mostBytes: number,
): Generator<Run<Item>> {
  for (const { isWhole, items: run } of runsOf(items, cellOf))
    if (isWhole) yield { isWhole, items: run };
    else for (const batch of inBatches(run, bytesOf, mostBytes)) yield { isWhole, items: batch };
}

function* runsOf<Item>(items: readonly Item[], cellOf: (item: Item) => Logged): Generator<Run<Item>> {
  let [begin, at] = [0, 0];
  while (at < items.length) {
    const size = sizeAt(items, at, cellOf);
    if (size === 0) at += 1;
    else {
      if (at > begin) yield { isWhole: false, items: items.slice(begin, at) };
      yield { isWhole: true, items: items.slice(at, at + size) };
      begin = at += size;
    }
  }
  if (at > begin) yield { isWhole: false, items: items.slice(begin) };
}

/** Returns the number of cells of the whole transaction at a position; 0 if none begins there, or one is missing. */
function sizeAt<Item>(items: readonly Item[], at: number, cellOf: (item: Item) => Logged): number {
  const { row_key, transaction: { size } = { size: 0 } } = cellOf(items[at] as Item);
  const isWhole =
    size > 1 &&
    items.length >= at + size &&
    items.slice(at, at + size).every((item, position) => {
      const { row_key: row, transaction } = cellOf(item);
      return row === row_key && transaction?.size === size && transaction.position === position;
    });
  return isWhole ? size : 0;
}

/** Returns the position of a transaction that begins but does not end in these cells; their number if there is none. */
export function beginOfOpen<Item>(
  items: readonly Item[],
  placeOf: (item: Item) => TransactionPlace | undefined,
): number {
  const last = items.at(-1);
  const place = last && placeOf(last);
  return place && place.position < place.size - 1 ? Math.max(0, items.length - 1 - place.position) : items.length;
}

/** Returns the transaction that writes these cells of one row. */
export function toTransaction(
  cells: readonly (NewCell & Pick<CellOfRow, 'created_at'>)[],
  withTimes: boolean,
): RowTransaction {
  return {
    row_key: cells[0]?.row_key ?? '',
    cells: cells.map(({ column_name, ref_key, body, created_at }) => ({
      column_name,
      ref_key,
      body,
      ...(withTimes && { created_at }),
    })),
  };
}
