import { indexTableName } from '../index-table.ts';
import type { Statement } from '../../sql/client.ts';
import { quoteName } from '../../sql/names.ts';

/** Drops the table of an index version from the database of a shard, or of its copy. */
export function dropIndexTable(
  database: string,
  { name, hash }: { readonly name: string; readonly hash: string },
): Statement {
  const table = `${quoteName(database)}.${quoteName(indexTableName(name, hash))}`;
  return { table, sql: `DROP TABLE IF EXISTS ${table}`, parameters: [] };
}
