import { putAll, type SchemalessClient } from 'schemaless';
import type { Move } from './move.ts';
import { cellOf } from './order.ts';
import type { OrdersTable } from './orders-table.ts';

/** Orders read at once: a few batches of 100 go side by side. */
const PAGE = 1000;

/**
 * Copies what the table holds, from where the last run stopped. While it runs, changes go to both: an order that is
 * changed between its reading and its writing has two states in the store then, and the later one has the higher ref key.
 * Stopped at any time, or run twice, it does no harm.
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
    const { undone } = await putAll(cells, orders.map(cellOf));
    const [first] = undone;
    if (first)
      throw new Error(`${undone.length} orders were not taken, ${first.cell.row_key} among them`, {
        cause: first.error,
      });
    after = last.id;
    await move.setFilledTo(after);
  }
}
