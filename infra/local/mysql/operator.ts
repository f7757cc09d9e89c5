import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { OPERATOR_USER } from './accounts.ts';
import { SERVER_HOST } from './node-status.ts';
import { within } from '../within.ts';

const CONNECT_MS = 2000;
const STATEMENT_MS = 10_000;
/** A paused server does not answer. */
const GOODBYE_MS = 200;

/** Lets `SET GLOBAL read_only` wait for statements under way; other sessions wait a second for locks. */
export const WAIT_FOR_WRITES = 'SET SESSION lock_wait_timeout = 10';

export type OperatorRow = Readonly<Record<string, unknown>>;

/** A connection that assigns roles. */
export interface Operator {
  /** Rejects with mysql2's error, or after `timeoutMs` (10 s). */
  run(sql: string, values?: readonly string[], timeoutMs?: number): Promise<readonly OperatorRow[]>;
}

export async function asOperator<T>(
  port: number,
  password: string,
  work: (operator: Operator) => Promise<T>,
): Promise<T> {
  const connection = await createConnection({
    host: SERVER_HOST,
    port,
    user: OPERATOR_USER,
    password,
    connectTimeout: CONNECT_MS,
  });
  // A server that dies between two statements fails the next one, not the process.
  connection.on('error', () => {});
  try {
    const result = await work({
      run: async (sql, values = [], timeoutMs = STATEMENT_MS) => {
        const [rows] = await connection.query<RowDataPacket[]>({ sql, timeout: timeoutMs }, [...values]);
        return Array.isArray(rows) ? rows : [];
      },
    });
    await within(GOODBYE_MS, connection.end()).catch(() => {});
    return result;
  } finally {
    connection.destroy();
  }
}

export function textOf(rows: readonly OperatorRow[], column: string): string {
  const value = rows[0]?.[column];
  return value === undefined || value === null ? '' : String(value);
}
