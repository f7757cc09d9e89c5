import type { ColumnDepth } from './statements/select-row-states.ts';

/** How long a column stays known as long. Without this an extra statement is sent. */
const LONG_FOR_MS = 5000;

/** Columns whose bodies were found too long for a statement about many rows, by datastore. */
export class LongColumns {
  readonly #until = new Map<string, number>();

  add(datastore: string, columns: readonly string[]): void {
    for (const column of columns) this.#until.set(`${datastore} ${column}`, performance.now() + LONG_FOR_MS);
  }

  /** Marks the columns that are known as long. */
  mark(datastore: string, columns: readonly ColumnDepth[]): readonly ColumnDepth[] {
    if (this.#until.size === 0) return columns;
    const now = performance.now();
    return columns.map((one) =>
      (this.#until.get(`${datastore} ${one.column}`) ?? 0) > now ? { ...one, isLong: true } : one,
    );
  }
}

/** Marks all columns as long: nothing is cut then. */
export function allLong(columns: readonly ColumnDepth[]): readonly ColumnDepth[] {
  return columns.map((one) => ({ ...one, isLong: true }));
}
