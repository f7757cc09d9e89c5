import type { Connection, ResultSetHeader } from 'mysql2/promise';
import type { Statement } from '../../shared/sql/client.ts';

/** Of a table that is read meanwhile. */
const PURGES = 8;

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

/**
 * `rowsRead` of a statement that changes nothing, without what a server reads of its own where it opens a table: other
 * tests have the tables of a group written anew, which closes them.
 */
export async function rowsReadOnceOpen(connection: Connection, statement: Statement): Promise<number> {
  let least = Infinity;
  for (let turn = 0; turn < 3; turn += 1) least = Math.min(least, await rowsRead(connection, statement));
  return least;
}

/**
 * Leaves a group with the statistics of an empty table, as it has them for some seconds of one that fills, and for a moment
 * of one that was written anew.
 */
export async function forgetStatistics(connection: Connection, database: string, table: string): Promise<void> {
  const ofTable = 'WHERE database_name = ? AND table_name = ?';
  const [{ affectedRows }] = await connection.query<ResultSetHeader>(
    `UPDATE mysql.innodb_table_stats SET n_rows = 0, clustered_index_size = 1, sum_of_other_index_sizes = 1 ${ofTable}`,
    [database, table],
  );
  if (affectedRows !== 1) throw new Error(`no statistics of ${database}.${table}`);
  await connection.query(
    `UPDATE mysql.innodb_index_stats SET stat_value = IF(stat_name LIKE 'n_diff%', 0, 1) ${ofTable}`,
    [database, table],
  );
  await connection.query(`FLUSH TABLE ${connection.escapeId(database)}.${connection.escapeId(table)}`);
}

/** Has a purge write tables anew, again and again, and reads meanwhile, as often as it can. @returns what each read gave */
export async function whilePurged(
  purging: Connection,
  tables: readonly string[],
  read: () => Promise<number>,
): Promise<readonly number[]> {
  const over = new AbortController();
  const written = (async () => {
    for (let turn = 0; turn < PURGES; turn += 1)
      for (const table of tables) await purging.query(`OPTIMIZE TABLE ${table}`);
  })().finally(() => over.abort());
  const all: number[] = [];
  while (!over.signal.aborted) all.push(await read());
  await written;
  await purging.end();
  return all;
}
