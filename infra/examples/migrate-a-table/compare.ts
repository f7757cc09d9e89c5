import type { SchemalessClient } from 'schemaless';
import { cellOf, isEqual, orderOf, type Order } from './order.ts';
import type { OrdersTable } from './orders-table.ts';

/** As many as one request may ask for. */
const PAGE = 100;

export interface Comparison {
  readonly compared: number;
  /** What the table has and the store had not, or had otherwise. */
  readonly different: readonly { readonly order: Order; readonly inStore: Order | undefined }[];
}

/**
 * Compares every order of the table with the cell of its version, and writes what is missing. Writers may go on: a
 * version does not change. What is there and differs is not mended: a cell never changes, so somebody has to look.
 */
export async function compareAll(table: OrdersTable, cells: SchemalessClient): Promise<Comparison> {
  const different: Comparison['different'][number][] = [];
  let compared = 0;
  for (let after = 0; ;) {
    const orders = await table.page(after, PAGE);
    const last = orders.at(-1);
    if (!last) return { compared, different };
    after = last.id;
    const found = await cells.batchGet(orders.map(cellOf));
    for (const [at, order] of orders.entries()) {
      const item = found[at];
      if (item && 'error' in item && item.error) throw item.error;
      const inStore = item ? orderOf(item as { readonly ref_key: number; readonly body: unknown }) : undefined;
      compared += 1;
      if (inStore && isEqual(inStore, order)) continue;
      different.push({ order, inStore });
      if (!inStore) await cells.put(cellOf(order));
    }
  }
}
