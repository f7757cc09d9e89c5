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

/** The tables of a database, without fences. */
export function selectTables(database: string): Statement {
  return {
    sql: "SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_name NOT LIKE 'fence$%'",
    parameters: [database],
  };
}

export function toTableNames(rows: readonly SqlRow[]): readonly string[] {
  return rows.map(([name]) => toText(name));
}

/** Renames tables and back in one step: waits a second at most for transactions that have read one of them. */
export function renameAndBack(from: string, to: string, tables: readonly string[]): Statement {
  const sql = `RENAME TABLE ${renames(from, to, tables)}, ${renames(to, from, tables)}`;
  return { sql, parameters: [] };
}

/**
 * Creates a fence: an empty table, `fence$1a2b3c4d` after an attempt to switch a shard, that its renames require. A
 * later switch drops the fences of both groups, so that a late rename fails.
 */
export function createFence(database: string, attempt: string): Statement {
  return { sql: `CREATE TABLE IF NOT EXISTS ${fenceIn(database, attempt)} (id INT PRIMARY KEY)`, parameters: [] };
}

/** Drops a fence, whether a rename has used it or not. */
export function dropFence(database: string, attempt: string): Statement {
  const sql = `DROP TABLE IF EXISTS ${fenceIn(database, attempt)}, ${fenceIn(database, attempt, '$')}`;
  return { sql, parameters: [] };
}

/** Selects the fences of a database, by the first 8 digits of their attempts. */
export function selectFences(database: string): Statement {
  return {
    sql: "SELECT SUBSTRING(table_name, 7, 8) FROM information_schema.tables WHERE table_schema = ? AND table_name LIKE 'fence$%'",
    parameters: [database],
  };
}

function fenceIn(database: string, attempt: string, taken: '' | '$' = ''): string {
  const [name] = /^[0-9a-f]{8}/u.exec(attempt) ?? [];
  if (name === undefined) throw new Error(`wanted a UUID, got ${attempt}`);
  return `${quoteName(database)}.\`fence$${name}${taken}\``;
}

/** Drops tables of a copy alone, never of a shard. */
export function dropTablesOfCopy(database: string, tables: readonly string[]): Statement {
  if (!database.endsWith('_copy')) throw new Error(`tables are dropped of copies alone, not of ${database}`);
  return {
    sql: `DROP TABLE IF EXISTS ${tables.map((name) => `${quoteName(database)}.${quoteName(name)}`).join(', ')}`,
    parameters: [],
  };
}

/** Renames all of them in one atomic step: their files stay where they are. */
export function renameTables(from: string, to: string, tables: readonly string[]): Statement {
  return { sql: `RENAME TABLE ${renames(from, to, tables)}`, parameters: [] };
}

/** Renames tables as `renameTables` does. Uses up the fence of the attempt in `from`, and fails without it. */
export function renameFenced(from: string, to: string, tables: readonly string[], attempt: string): Statement {
  const sql = `RENAME TABLE ${fenceIn(from, attempt)} TO ${fenceIn(from, attempt, '$')}, ${renames(from, to, tables)}`;
  return { sql, parameters: [] };
}

function renames(from: string, to: string, tables: readonly string[]): string {
  const [source, target] = [quoteName(from), quoteName(to)];
  return tables.map((name) => `${source}.${quoteName(name)} TO ${target}.${quoteName(name)}`).join(', ');
}
