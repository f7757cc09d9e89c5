import { indexTableName } from '../../index/index-table.ts';
import { shardDatabase } from '../../shard.ts';
import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { quoteName } from '../names.ts';
import { unionOf } from '../union.ts';

/** How many live entries an index has in each of some shards of one group. Reads all of them, in the key of tombstones. */
export function countEntries(datastore: string, shards: readonly number[], { name, hash }: { readonly name: string; readonly hash: string }): Statement {
  const table = quoteName(indexTableName(name, hash));
  return unionOf(shards.map((shard) => ({ sql: `SELECT COUNT(*) FROM ${quoteName(shardDatabase(datastore, shard))}.${table} WHERE tombstone_at IS NULL`, parameters: [] })));
}

/** In no order. */
export function toCounts(rows: readonly SqlRow[]): number[] {
  return rows.map(([count]) => toNumber(count));
}
