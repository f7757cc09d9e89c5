import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tail, type SchemalessClient } from '@schemaless-store/schemaless';
import { COLUMN, orderOf } from './order.ts';
import type { OrdersTable } from './orders-table.ts';

/** The most work, in time, that a run repeats after a crash. */
const KEEP_EVERY_MS = 1000;

/**
 * Copies the store's changes to the table after the cut-over, so that a way back stays open for as long as it is
 * wanted. Continues from where it stopped, and skips states that the table has, so that a repeat does no harm.
 */
export async function followBack(
  table: OrdersTable,
  cells: SchemalessClient,
  offsetsFile: string,
  signal: AbortSignal,
): Promise<void> {
  const from = existsSync(offsetsFile) ? JSON.parse(readFileSync(offsetsFile, 'utf8')) : 'start';
  let keptAt = performance.now();
  for await (const { cell, offset } of tail(cells, { from, signal, limit: 1000 })) {
    if (cell.column_name === COLUMN) await table.catchUp(orderOf(cell));
    if (performance.now() - keptAt < KEEP_EVERY_MS) continue;
    // Whole or not at all, whenever this ends.
    writeFileSync(`${offsetsFile}.new`, JSON.stringify(offset));
    renameSync(`${offsetsFile}.new`, offsetsFile);
    keptAt = performance.now();
  }
}
