import type { Connection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import type { Statement } from '../../shared/sql/client.ts';

/** The least numbers of rebuilds of a table, and of reads in parallel with them. */
const [REBUILDS, READS] = [8, 21];

/**
 * Returns how many rows and entries of keys a statement reads, by the server's own counters. Only this test may use the
 * connection.
 */
export async function rowsRead(connection: Connection, { sql, parameters }: Statement): Promise<number> {
  await connection.query('FLUSH STATUS');
  await connection.query(sql, [...parameters]);
  const [counters] = await connection.query("SHOW SESSION STATUS LIKE 'Handler_read%'");
  return (counters as { readonly Value: string }[]).reduce((sum, { Value }) => sum + Number(Value), 0);
}

/**
 * Returns `rowsRead` of a statement that changes nothing, without the server's own reads when it opens a table. Other
 * tests rebuild tables of a group, which closes them.
 */
export async function rowsReadOnceOpen(connection: Connection, statement: Statement): Promise<number> {
  let least = Infinity;
  for (let turn = 0; turn < 3; turn += 1) least = Math.min(least, await rowsRead(connection, statement));
  return least;
}

/** Turns in which no other test rebuilds a table, which closes it, and recounts its statistics. */
const TURNS = 3;

/**
 * Returns `rowsReadOnceOpen` for a group with the statistics of empty tables. It has these for some seconds while a
 * table fills, and for a moment after a rebuild.
 *
 * @param statement makes a new one each time, so that an append finds no cell of an earlier append
 * @param read counts the rows of one @default `rowsRead`
 */
export async function rowsReadWithoutStatistics(
  connection: Connection,
  tables: readonly TableName[],
  statement: () => Statement,
  read: (statement: Statement) => Promise<number> = (made) => rowsRead(connection, made),
): Promise<number> {
  let least = Infinity;
  for (let turn = 0, tries = 0; turn < TURNS; tries += 1) {
    if (tries === 5 * TURNS) throw new Error(`statistics of ${tables.join(', ')} came back ${tries} times`);
    for (const name of tables) await forget(connection, name);
    const rows = await read(statement());
    if (!(await areForgotten(connection, tables))) continue;
    least = Math.min(least, rows);
    turn += 1;
  }
  return least;
}

type TableName = readonly [database: string, table: string];

const OF_TABLE = 'WHERE database_name = ? AND table_name = ?';

async function forget(connection: Connection, name: TableName): Promise<void> {
  const [{ affectedRows }] = await connection.query<ResultSetHeader>(
    `UPDATE mysql.innodb_table_stats SET n_rows = 0, clustered_index_size = 1, sum_of_other_index_sizes = 1 ${OF_TABLE}`,
    [...name],
  );
  if (affectedRows !== 1) throw new Error(`no statistics of ${name.join('.')}`);
  await connection.query(
    `UPDATE mysql.innodb_index_stats SET stat_value = IF(stat_name LIKE 'n_diff%', 0, 1) ${OF_TABLE}`,
    [...name],
  );
  const table = name.map((part) => connection.escapeId(part)).join('.');
  await connection.query(`FLUSH TABLE ${table}`);
  // Opens the table before the measured statement.
  await connection.query(`SELECT 1 FROM ${table} LIMIT 1`);
}

/** Whether no statistics were recounted: the server recounts those of changed tables at some time. */
async function areForgotten(connection: Connection, tables: readonly TableName[]): Promise<boolean> {
  for (const name of tables) {
    const [[stats]] = await connection.query<RowDataPacket[]>(
      `SELECT n_rows FROM mysql.innodb_table_stats ${OF_TABLE}`,
      [...name],
    );
    if (Number(stats?.['n_rows']) !== 0) return false;
  }
  return true;
}

/** Rebuilds tables with OPTIMIZE TABLE, as operators do after erasures. Returns the results of reads in parallel. */
export async function whileRebuilt(
  rebuilding: Connection,
  tables: readonly string[],
  read: () => Promise<number>,
): Promise<readonly number[]> {
  const over = new AbortController();
  const all: number[] = [];
  const written = (async () => {
    for (let turn = 0; turn < REBUILDS || all.length < READS; turn += 1)
      for (const table of tables) await rebuilding.query(`OPTIMIZE TABLE ${table}`);
  })().finally(() => over.abort());
  while (!over.signal.aborted) all.push(await read());
  await written;
  await rebuilding.end();
  return all;
}
