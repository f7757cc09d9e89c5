import { setImmediate } from 'node:timers/promises';
import type { SchemalessClient } from '@schemaless-store/schemaless';
import type { Move, Phase } from '../../../../infra/examples/migrate-a-table/move.ts';
import type { Order } from '../../../../infra/examples/migrate-a-table/order.ts';
import { openOrders, type Orders } from '../../../../infra/examples/migrate-a-table/orders.ts';
import type { OrdersTable } from '../../../../infra/examples/migrate-a-table/orders-table.ts';

interface TillOptions {
  readonly table: OrdersTable;
  readonly cells: SchemalessClient;
  readonly move: Move;
  readonly ids: number;
}

/** A process of the application that learns of phases late, and keeps adding a cent to random orders. */
export class Till {
  phase: Phase = 'table';
  readonly differences: string[] = [];
  /** Cents that were added and answered for, by order. */
  readonly added = new Map<number, number>();
  readonly #ids: number;
  readonly #orders: Orders;
  #isQuiet = false;
  readonly #end = new AbortController();
  readonly #going: Promise<void>;

  /** @param ids of the orders that there are: 1 to this */
  constructor({ table, cells, move, ids }: TillOptions, seed: number) {
    this.#ids = ids;
    this.#orders = openOrders({
      table,
      cells,
      phase: () => this.phase,
      nextId: () => move.nextId(),
      onDifference: ({ id }, why) => void this.differences.push(`${id}: ${why}`),
    });
    this.#going = this.#run(seed);
  }

  async #run(seed: number): Promise<void> {
    for (let step = seed; !this.#end.signal.aborted; step = (step * 7919 + 13) % 100_003) {
      // Few of them get most of the changes, so that tills meet.
      const id = (step % (step % 3 === 0 ? 5 : this.#ids)) + 1;
      if (this.phase === 'closing') {
        this.#isQuiet = true;
        await setImmediate();
      } else {
        this.#isQuiet = false;
        await this.#orders.change(id, (order) => ({ ...order, total_cents: order.total_cents + 1 }));
        this.added.set(id, (this.added.get(id) ?? 0) + 1);
        await this.#orders.get(id);
      }
    }
  }

  create(customer: number): Promise<Order> {
    return this.#orders.create({ customer, state: 'new', total_cents: 0 });
  }

  /** Returns whether all work begun before it heard of `closing` is done. */
  isQuiet(): boolean {
    return this.#isQuiet;
  }

  changes(): number {
    return [...this.added.values()].reduce((sum, cents) => sum + cents, 0);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#going;
  }
}
