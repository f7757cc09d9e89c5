import { indexTable, type PhysicalIndex } from '../index-table.ts';
import type { Statement } from '../../sql/client.ts';

/** Deletes the oldest tombstones of at least an age. NOW, not SYSDATE, for which no key is used. */
export function deleteTombstones(
  datastore: string,
  shard: number,
  index: PhysicalIndex,
  { ageMs, limit }: { readonly ageMs: number; readonly limit: number },
): Statement {
  const table = indexTable(datastore, shard, index);
  return {
    table,
    sql: `DELETE FROM ${table} WHERE tombstone_at <= NOW(6) - INTERVAL ? MICROSECOND ORDER BY tombstone_at LIMIT ?`,
    parameters: [Math.round(ageMs * 1000), limit],
  };
}
