import { toText } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { quoteName } from '../../sql/names.ts';

/** The table without which `renameAway` fails. */
const FENCE = 'fence';

export function createDatabase(database: string): Statement {
  return { sql: `CREATE DATABASE IF NOT EXISTS ${quoteName(database)}`, parameters: [] };
}

/** Of a copy alone, never of a shard. */
export function dropCopy(database: string): Statement {
  if (!database.endsWith('_copy')) throw new Error(`copies alone are dropped, not ${database}`);
  return { sql: `DROP DATABASE IF EXISTS ${quoteName(database)}`, parameters: [] };
}

/** The tables of a database, without the fence of a switch. */
export function selectTables(database: string): Statement {
  return {
    sql: 'SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_name <> ?',
    parameters: [database, FENCE],
  };
}

export function toTableNames(rows: readonly SqlRow[]): readonly string[] {
  return rows.map(([name]) => toText(name));
}

/** Renames tables and back in one step: waits a second at most for transactions that have read one of them. */
export function renameAndBack(from: string, to: string, tables: readonly string[]): Statement {
  const sql = `RENAME TABLE ${renames(from, to, tables)}, ${renames(to, from, tables)}`;
  return { waitsBriefly: true, sql, parameters: [] };
}

/** Makes the table that allows a switch to take the names of a shard's tables away. */
export function createFence(copy: string): Statement {
  return { sql: `CREATE TABLE IF NOT EXISTS ${quoteName(copy)}.${FENCE} (id INT PRIMARY KEY)`, parameters: [] };
}

/** From here on no switch that stood still renames the shard's tables. */
export function dropFence(copy: string): Statement {
  return { sql: `DROP TABLE IF EXISTS ${quoteName(copy)}.${FENCE}`, parameters: [] };
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
  return { waitsBriefly: true, sql: `RENAME TABLE ${renames(from, to, tables)}`, parameters: [] };
}

/** As `renameTables`, of a shard to its copy. Fails where the copy has no fence: the move has ended since. */
export function renameAway(shard: string, copy: string, tables: readonly string[]): Statement {
  const database = quoteName(copy);
  const guarded = `${database}.${FENCE} TO ${database}.fence_seen, ${database}.fence_seen TO ${database}.${FENCE}`;
  return { waitsBriefly: true, sql: `RENAME TABLE ${guarded}, ${renames(shard, copy, tables)}`, parameters: [] };
}

function renames(from: string, to: string, tables: readonly string[]): string {
  const [source, target] = [quoteName(from), quoteName(to)];
  return tables.map((name) => `${source}.${quoteName(name)} TO ${target}.${quoteName(name)}`).join(', ');
}
