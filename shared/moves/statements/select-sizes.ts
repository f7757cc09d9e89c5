import { shardDatabase } from '../../shard.ts';
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
 * They are statistics, which change nothing and count nothing. MariaDB has those of its engine, which are made anew once
 * a tenth of a table has changed. MySQL 8 keeps what it was asked last for as long as `information_schema_stats_expiry`
 * says, a day unless that is set otherwise; a statement cannot set it for itself. `mysql.innodb_table_stats` would be
 * fresher, and the users of functions may read no more than their own databases.
 */
export function selectSizes(datastore: string): Statement {
  return {
    sql: "SELECT table_schema, COALESCE(SUM(data_length + index_length), 0), COALESCE(SUM(IF(table_name = 'entity', table_rows, 0)), 0) FROM information_schema.tables WHERE table_schema LIKE ? GROUP BY table_schema",
    parameters: [`${`${datastore}_`.replaceAll('_', '\\_')}%`],
  };
}

/** By shard; what belongs to another datastore whose name begins alike is left out. */
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
