import { createHash } from 'node:crypto';

export interface Order {
  readonly id: number;
  readonly customer: number;
  readonly state: string;
  readonly total_cents: number;
  /** 1, 2, 3, …: goes up with every change. In the store it is the ref key. */
  readonly version: number;
}

export const COLUMN = 'ORDER';

/** Of this table's orders alone: another table with the same ids has another. */
const NAMESPACE = Buffer.from('7c3f1d5e2b9a4e0f8d6c0a1b2c3d4e5f', 'hex');

/** Returns the row key of an order: a UUID of version 5 made of its id, so that the id alone gives the row. */
export function rowKeyOf(id: number): string {
  const hash = createHash('sha1').update(NAMESPACE).update(`orders/${id}`).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

/** The same state of an order is always the same cell, so that it may be written any number of times. */
export function cellOf({ id, customer, state, total_cents, version }: Order) {
  return {
    row_key: rowKeyOf(id),
    column_name: COLUMN,
    ref_key: version,
    body: { id, customer, state, total_cents },
  };
}

export function orderOf(cell: { readonly ref_key: number; readonly body: unknown }): Order {
  const { id, customer, state, total_cents } = cell.body as Omit<Order, 'version'>;
  return { id, customer, state, total_cents, version: cell.ref_key };
}

export function isEqual(one: Order, other: Order): boolean {
  return JSON.stringify(cellOf(one)) === JSON.stringify(cellOf(other));
}
