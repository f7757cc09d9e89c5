import { indexTableName } from '../index-table.ts';
import { shardDatabase } from '../../address.ts';
import type { Statement } from '../../sql/client.ts';
import { quoteName } from '../../sql/names.ts';

export function dropIndexTable(
  datastore: string,
  shard: number,
  { name, hash }: { readonly name: string; readonly hash: string },
): Statement {
  const table = `${quoteName(shardDatabase(datastore, shard))}.${quoteName(indexTableName(name, hash))}`;
  return { table, sql: `DROP TABLE IF EXISTS ${table}`, parameters: [] };
}
