import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tail, type SchemalessClient } from 'schemaless';
import { COLUMN, orderOf } from './order.ts';
import type { OrdersTable } from './orders-table.ts';

/** What a run that dies does again. */
const KEEP_EVERY_MS = 1000;

/**
 * After the cut-over: brings what the store takes to the table, so that there is a way back until nobody wants it any
 * more. Goes on from where it stopped; a state that the table has is left alone, so that a repeat does no harm.
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
