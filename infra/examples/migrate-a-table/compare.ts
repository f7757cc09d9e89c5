import type { SchemalessClient } from '@schemaless-store/schemaless';
import { cellOf, isEqual, orderOf, type Order } from './order.ts';
import type { OrdersTable } from './orders-table.ts';

/** As many as one request may ask for. */
const PAGE = 100;

export interface Comparison {
  readonly compared: number;
  /** Orders of the table that the store lacked, or had in another state. */
  readonly different: readonly { readonly order: Order; readonly inStore: Order | undefined }[];
}

/**
 * Compares every order of the table with the cell of its version, and writes missing cells. Writers may continue: a
 * version does not change. It repairs no cell that differs: a cell never changes, so an operator must decide.
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
