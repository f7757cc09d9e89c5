import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SchemalessError, type SchemalessClient } from '@schemaless-store/schemaless';
import type { Phase } from './move.ts';
import { cellOf, COLUMN, isEqual, orderOf, rowKeyOf, type Order } from './order.ts';
import type { OrdersTable } from './orders-table.ts';

export interface OrdersOptions {
  readonly table: OrdersTable;
  readonly cells: SchemalessClient;
  /** As this process knows it. A real one reads it every second, and `closing` lasts for longer than that. */
  readonly phase: () => Phase;
  readonly nextId: () => Promise<number>;
  /** Called when the store did not take or return the table's state. `compare.ts` repairs it. */
  readonly onDifference: (order: Order, why: string) => void;
}

/** Tenths of a second in which the cell of a change is written. */
const COPIED_WITHIN_TRIES = 100;

/** The calls of the application, before, during and after the move. */
export interface Orders {
  get(id: number): Promise<Order | undefined>;
  create(order: Omit<Order, 'id' | 'version'>): Promise<Order>;
  /** Changes the order as it is now; calls `to` again with a newer one if another caller was first. */
  change(id: number, to: (order: Order) => Order): Promise<Order>;
}

export function openOrders(options: OrdersOptions): Orders {
  const inTable = throughTable(options);
  const inCells = throughCells(options);
  const now = (): Orders => (options.phase() === 'cells' ? inCells : inTable);
  const forChange = (): Orders => {
    if (options.phase() === 'closing') throw new Error('orders are moving: try again in a few seconds');
    return now();
  };
  return {
    get: (id) => now().get(id),
    create: (order) => forChange().create(order),
    change: (id, to) => forChange().change(id, to),
  };
}

function throughTable({ table, cells, phase, onDifference }: OrdersOptions): Orders {
  /** The table has it by now, which is what counts until the cut-over. */
  async function copy(order: Order): Promise<void> {
    if (phase() === 'table') return;
    const result = await cells.put(cellOf(order)).catch((error: Error) => ({ outcome: error.message }));
    const isThere = ['stored', 'stored_before', 'buffered'].includes(result.outcome);
    if (!isThere) onDifference(order, result.outcome);
  }

  /** This very version: a later one may have come between the two reads. */
  async function compare(order: Order): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const { cell } = await cells.get(cellOf(order));
      if (cell && isEqual(orderOf(cell), order)) return;
      if (cell || tries === COPIED_WITHIN_TRIES) return onDifference(order, cell ? 'another state' : 'not there');
      // A caller that changed the table a moment ago may still be writing the cell.
      await sleep(100);
    }
  }

  return {
    async get(id) {
      const order = await table.get(id);
      if (order && phase() === 'compare') await compare(order);
      return order;
    },
    async create(wanted) {
      const order = await table.create(wanted);
      await copy(order);
      return order;
    },
    async change(id, to) {
      for (;;) {
        const before = await table.get(id);
        if (!before) throw new Error(`there is no order ${id}`);
        const order = { ...to(before), id, version: before.version + 1 };
        if (!(await table.change(order))) continue;
        await copy(order);
        return order;
      }
    },
  };
}

function throughCells({ cells, nextId }: OrdersOptions): Orders {
  async function get(id: number): Promise<Order | undefined> {
    const { cell } = await cells.getLatest({ row_key: rowKeyOf(id), column_name: COLUMN });
    return cell ? orderOf(cell) : undefined;
  }

  /** False where another state has this version. */
  async function put(order: Order): Promise<boolean> {
    const { row_key, column_name, ref_key, body } = cellOf(order);
    // Two callers that make the same state from the same order, such as two that add a cent, are still two changes.
    try {
      // After `unavailable` the cell may be there or not: the caller retries, and finds out.
      await cells.put({ row_key, column_name, ref_key, body: { ...body, change: randomUUID() } });
      return true;
    } catch (error) {
      if (error instanceof SchemalessError && error.code === 'conflict') return false;
      throw error;
    }
  }

  return {
    get,
    async create(wanted) {
      const order = { ...wanted, id: await nextId(), version: 1 };
      await put(order);
      return order;
    },
    async change(id, to) {
      for (;;) {
        const before = await get(id);
        if (!before) throw new Error(`there is no order ${id}`);
        const order = { ...to(before), id, version: before.version + 1 };
        if (await put(order)) return order;
      }
    },
  };
}
