import type { ColumnDepth } from '../sql/statements/select-row-states.ts';

/**
 * For so long, cells of a column that were found to be many are asked for as such. Whoever is not told, or no more, asks
 * twice once.
 */
const LONG_FOR_MS = 5000;

/** By datastore and column, until when. */
const longUntil = new Map<string, number>();

const keyOf = (datastore: string, column: string): string => `${datastore} ${column}`;

/** Rows were found to have many cells of some columns. */
export function foundLong(datastore: string, columns: readonly string[]): void {
  for (const column of columns) longUntil.set(keyOf(datastore, column), performance.now() + LONG_FOR_MS);
}

/** Columns, and of each whether rows are known to have many cells of it. */
export function withLengths(datastore: string, columns: readonly ColumnDepth[]): readonly ColumnDepth[] {
  if (longUntil.size === 0) return columns;
  const now = performance.now();
  return columns.map((one) =>
    (longUntil.get(keyOf(datastore, one.column)) ?? 0) > now ? { ...one, isLong: true } : one,
  );
}

/** Columns, of which all rows are asked for one by one: nothing is cut then. */
export function allLong(columns: readonly ColumnDepth[]): readonly ColumnDepth[] {
  return columns.map((one) => ({ ...one, isLong: true }));
}
