import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import type { Order } from './order.ts';

const FIELDS = 'id, customer, state, total_cents, version';

/** The version last: those before it are compared with the one that the row has. */
const CATCH_UP = [
  `INSERT INTO orders (${FIELDS}) VALUES (?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE`,
  ...['customer', 'state', 'total_cents', 'version'].map(
    (field) => `${field} = IF(VALUES(version) > version, VALUES(${field}), ${field})${field === 'version' ? '' : ','}`,
  ),
].join(' ');

export interface OrdersTable {
  get(id: number): Promise<Order | undefined>;
  create(order: Omit<Order, 'id' | 'version'>): Promise<Order>;
  /** False if another caller changed it first. */
  change(order: Order): Promise<boolean>;
  /** In the order of their ids, after one of them. */
  page(after: number, limit: number): Promise<readonly Order[]>;
  /** Writes a state that the store holds, unless the table has it or a later one. */
  catchUp(order: Order): Promise<void>;
}

/** The table, as the application used it before. */
export function ordersTable(pool: Pool): OrdersTable {
  const rows = async (where: string, values: readonly number[]): Promise<readonly Order[]> =>
    (await pool.query<(Order & RowDataPacket)[]>(`SELECT ${FIELDS} FROM orders WHERE ${where}`, [...values]))[0].map(
      ({ id, customer, state, total_cents, version }) => ({ id, customer, state, total_cents, version }),
    );
  const change = async (sql: string, values: readonly (string | number)[]): Promise<ResultSetHeader> =>
    (await pool.query<ResultSetHeader>(sql, [...values]))[0];

  return {
    async get(id) {
      return (await rows('id = ?', [id]))[0];
    },
    async create({ customer, state, total_cents }) {
      const sql = 'INSERT INTO orders (customer, state, total_cents) VALUES (?, ?, ?)';
      const { insertId } = await change(sql, [customer, state, total_cents]);
      return { id: insertId, customer, state, total_cents, version: 1 };
    },
    async change({ id, customer, state, total_cents, version }) {
      const sql =
        'UPDATE orders SET customer = ?, state = ?, total_cents = ?, version = ? WHERE id = ? AND version = ?';
      return (await change(sql, [customer, state, total_cents, version, id, version - 1])).affectedRows === 1;
    },
    page: (after, limit) => rows('id > ? ORDER BY id LIMIT ?', [after, limit]),
    async catchUp({ id, customer, state, total_cents, version }) {
      await change(CATCH_UP, [id, customer, state, total_cents, version]);
    },
  };
}
