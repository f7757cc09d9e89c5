import type { Connection } from 'mysql2/promise';
import type { Statement } from '../../shared/sql/client.ts';

/**
 * How many rows and entries of keys a statement reads, by the server's own counters. The connection must be of this
 * test alone.
 */
export async function rowsRead(connection: Connection, { sql, parameters }: Statement): Promise<number> {
  await connection.query('FLUSH STATUS');
  await connection.query(sql, [...parameters]);
  const [counters] = await connection.query("SHOW SESSION STATUS LIKE 'Handler_read%'");
  return (counters as { readonly Value: string }[]).reduce((sum, { Value }) => sum + Number(Value), 0);
}
