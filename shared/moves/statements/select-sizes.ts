import { shardDatabase } from '../../address.ts';
import { toNumber, toText } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';

/** What the engine's statistics say of a shard's database. */
export interface StoredSize {
  /** Of all its tables, with their keys. */
  readonly bytes: number;
  /** Of cells, an estimate of the same moment. */
  readonly rows: number;
}

/**
 * What a datastore's shards take on one group, in one statement.
 *
 * They are the engine's statistics, which it makes anew once a tenth of a table has changed. A writer of MySQL 8
 * answers what it found when it was last asked, for as long as `information_schema_stats_expiry` says: a day, unless
 * that is set otherwise, and a statement cannot set it for itself. A reader, which may write nothing, asks its engine
 * each time. `mysql.innodb_table_stats` would be fresh everywhere, and the users of functions may read their own
 * databases alone.
 */
export function selectSizes(datastore: string): Statement {
  return {
    sql: "SELECT table_schema, COALESCE(SUM(data_length + index_length), 0), COALESCE(SUM(IF(table_name = 'entity', table_rows, 0)), 0) FROM information_schema.tables WHERE table_schema LIKE ? GROUP BY table_schema",
    parameters: [`${`${datastore}_`.replaceAll('_', '\\_')}%`],
  };
}

/** By shard; copies of shards, and another datastore whose name begins alike, are left out. */
export function toSizes(
  rows: readonly SqlRow[],
  datastore: string,
  shards: readonly number[],
): ReadonlyMap<number, StoredSize> {
  const shardIn = new Map(shards.map((shard) => [shardDatabase(datastore, shard), shard]));
  return new Map(
    rows.flatMap(([database, bytes, count]): readonly [number, StoredSize][] => {
      const shard = shardIn.get(toText(database ?? null));
      return shard === undefined ? [] : [[shard, { bytes: toNumber(bytes), rows: toNumber(count) }]];
    }),
  );
}
