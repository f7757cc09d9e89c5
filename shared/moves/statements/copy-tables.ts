import { toText } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { quoteName } from '../../sql/names.ts';

export function createDatabase(database: string): Statement {
  return { sql: `CREATE DATABASE IF NOT EXISTS ${quoteName(database)}`, parameters: [] };
}

/** Of a copy alone, never of a shard. */
export function dropCopy(database: string): Statement {
  if (!database.endsWith('_copy')) throw new Error(`copies alone are dropped, not ${database}`);
  return { sql: `DROP DATABASE IF EXISTS ${quoteName(database)}`, parameters: [] };
}

/** The tables of a database. */
export function selectTables(database: string): Statement {
  return {
    sql: 'SELECT table_name FROM information_schema.tables WHERE table_schema = ?',
    parameters: [database],
  };
}

export function toTableNames(rows: readonly SqlRow[]): readonly string[] {
  return rows.map(([name]) => toText(name));
}

/** Renames tables and back in one step: waits a second at most for transactions that have read one of them. */
export function renameAndBack(from: string, to: string, tables: readonly string[]): Statement {
  const [source, target] = [quoteName(from), quoteName(to)];
  const there = tables.map((name) => `${source}.${quoteName(name)} TO ${target}.${quoteName(name)}`);
  const back = tables.map((name) => `${target}.${quoteName(name)} TO ${source}.${quoteName(name)}`);
  return { waitsBriefly: true, sql: `RENAME TABLE ${[...there, ...back].join(', ')}`, parameters: [] };
}

/** Drops tables of a copy alone, never of a shard. */
export function dropTablesOfCopy(database: string, tables: readonly string[]): Statement {
  if (!database.endsWith('_copy')) throw new Error(`tables are dropped of copies alone, not of ${database}`);
  return {
    sql: `DROP TABLE IF EXISTS ${tables.map((name) => `${quoteName(database)}.${quoteName(name)}`).join(', ')}`,
    parameters: [],
  };
}

/** All of them in one step, which nobody sees half done: their files stay where they are. */
export function renameTables(from: string, to: string, tables: readonly string[]): Statement {
  const [source, target] = [quoteName(from), quoteName(to)];
  return {
    waitsBriefly: true,
    sql: `RENAME TABLE ${tables.map((name) => `${source}.${quoteName(name)} TO ${target}.${quoteName(name)}`).join(', ')}`,
    parameters: [],
  };
}
