import type { ColumnDepth } from '../sql/statements/select-row-states.ts';

/** How long a column stays known as long. Without this an extra statement is sent. */
const LONG_FOR_MS = 5000;

const longUntil = new Map<string, number>();

const keyOf = (datastore: string, column: string): string => `${datastore} ${column}`;

export function foundLong(datastore: string, columns: readonly string[]): void {
  for (const column of columns) longUntil.set(keyOf(datastore, column), performance.now() + LONG_FOR_MS);
}

export function withLengths(datastore: string, columns: readonly ColumnDepth[]): readonly ColumnDepth[] {
  if (longUntil.size === 0) return columns;
  const now = performance.now();
  return columns.map((one) =>
    (longUntil.get(keyOf(datastore, one.column)) ?? 0) > now ? { ...one, isLong: true } : one,
  );
}

/** Marks all columns as long: nothing is cut then. */
export function allLong(columns: readonly ColumnDepth[]): readonly ColumnDepth[] {
  return columns.map((one) => ({ ...one, isLong: true }));
}
