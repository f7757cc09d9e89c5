import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise';

/**
 * - `table`: the table alone.
 * - `both`: the table decides, and each change is also written to the store.
 * - `compare`: as `both`, and each read also asks the store, and counts differences.
 * - `closing`: no changes, until every process has read the phase.
 * - `cells`: the store decides; the table follows, so that there is a way back.
 */
export const PHASES = ['table', 'both', 'compare', 'closing', 'cells'] as const;
export type Phase = (typeof PHASES)[number];

/** The progress of the move, stored next to the table, where every process of the application reads it. */
export interface Move {
  phase(): Promise<Phase>;
  set(phase: Phase): Promise<void>;
  /** The highest id of the orders that were copied. */
  filledTo(): Promise<number>;
  setFilledTo(id: number): Promise<void>;
  /** For an order that is made once the table gives no ids any more. */
  nextId(): Promise<number>;
}

export function openMove(pool: Pool): Move {
  const read = async (): Promise<RowDataPacket> => {
    const [row] = (await pool.query<RowDataPacket[]>('SELECT phase, filled_to FROM orders_move'))[0];
    if (!row) throw new Error('orders_move is empty: run schema.sql');
    return row;
  };
  return {
    phase: async () => (await read())['phase'],
    async set(phase) {
      await pool.query('UPDATE orders_move SET phase = ?', [phase]);
    },
    filledTo: async () => Number((await read())['filled_to']),
    async setFilledTo(id) {
      await pool.query('UPDATE orders_move SET filled_to = ?', [id]);
    },
    async nextId() {
      const sql =
        'UPDATE orders_move SET last_id = LAST_INSERT_ID(GREATEST(last_id, (SELECT COALESCE(MAX(id), 0) FROM orders)) + 1)';
      return (await pool.query<ResultSetHeader>(sql))[0].insertId;
    },
  };
}
