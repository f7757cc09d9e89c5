import type { IndexDefinition } from '../definitions/definitions.ts';
import { shardDatabase } from '../shard.ts';
import { quoteName } from '../sql/names.ts';
import { COLUMN_TYPE } from './field-value.ts';

/**
 * An index as it lies in MySQL: one table in each shard's database, named after the definition that it was built by.
 */
export interface PhysicalIndex {
  /** As clients know it. */
  readonly name: string;
  readonly hash: string;
  readonly definition: IndexDefinition;
}

/** `driver_partner_index_1a2b3c4d`. */
export function indexTableName(name: string, hash: string): string {
  return `${name}_${hash}`;
}

/** The quoted name of an index's table in one shard. */
export function indexTable(datastore: string, shard: number, index: PhysicalIndex): string {
  return `${quoteName(shardDatabase(datastore, shard))}.${quoteName(indexTableName(index.name, index.hash))}`;
}

/**
 * The table of an index in one shard's database. Fields are `f0` (the shard field), `f1`, … in the order of the
 * definition, since field names may be paths; comments say which.
 *
 * - The primary key is (shard field, row key): one entry a row under each value.
 * - Each other field has a key (shard field, field, row key), which serves equality, ranges and order; `keys:` adds
 *   combinations.
 * - (epoch, added_id) is the entry's version: the place in its row's log that it was computed at.
 * - A tombstone keeps an entry under a former value from coming back, until it is purged.
 *
 * @param database quoted
 */
export function createIndexTable(database: string, table: string, definition: IndexDefinition): string {
  const { fields, keys } = definition;
  const columns = fields.map(
    ({ field, type }, place) =>
      `f${place} ${COLUMN_TYPE[type]} ${place === 0 ? 'NOT NULL' : 'NULL'} COMMENT '${field.replaceAll("'", '')}'`,
  );
  const single = fields.slice(1).map((_, place) => [place + 1]);
  const combined = keys.map((names) => names.map((name) => fields.findIndex(({ field }) => field === name)));
  const secondary = [...single, ...combined].map(
    (places) => `KEY k_${places.join('_')} (f0, ${places.map((place) => `f${place}`).join(', ')}, row_key)`,
  );
  return (
    `CREATE TABLE IF NOT EXISTS ${database}.${quoteName(table)} (${columns.join(', ')}, ` +
    `row_key BINARY(16) NOT NULL, epoch INT UNSIGNED NOT NULL, added_id BIGINT UNSIGNED NOT NULL, tombstone_at DATETIME(6) NULL, ` +
    `PRIMARY KEY (f0, row_key), ${[...secondary, 'KEY tombstones (tombstone_at)'].join(', ')}) ENGINE=InnoDB`
  );
}
