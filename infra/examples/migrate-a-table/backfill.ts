import { putAll, type SchemalessClient } from '@schemaless-store/schemaless';
import type { Move } from './move.ts';
import { cellOf } from './order.ts';
import type { OrdersTable } from './orders-table.ts';

/** Orders read at once: a few batches of 100 go side by side. */
const PAGE = 1000;

/**
 * Copies the table's orders, from where the last run stopped. While it runs, changes go to both. An order that changes
 * between its read and its write then has two states in the store; the later one has the higher ref key. It may stop at
 * any time, or run twice.
 */
export async function backfill(
  table: OrdersTable,
  cells: SchemalessClient,
  move: Move,
  signal?: AbortSignal,
): Promise<void> {
  let after = await move.filledTo();
  for (;;) {
    signal?.throwIfAborted();
    const orders = await table.page(after, PAGE);
    const last = orders.at(-1);
    if (!last) return;
    await putAll(cells, orders.map(cellOf));
    after = last.id;
    await move.setFilledTo(after);
  }
}
