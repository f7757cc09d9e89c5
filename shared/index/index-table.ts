import { rowKeyBytes, rowKeyOf, copyDatabase, shardDatabase } from '../address.ts';
import type { FieldType, IndexDefinition } from '../definitions/definitions.ts';
import { STRING_BYTES, type FieldValue } from '../definitions/field-value.ts';
import { toBytes, toText } from '../sql/cell-rows.ts';
import type { SqlParameter, SqlValue, Statement } from '../sql/client.ts';
import { quoteName } from '../sql/names.ts';
import { fromSqlTime, toSqlTime } from '../time.ts';
import type { IndexCatalogue } from '../topology/index-catalogue.ts';
import type { TopologySource } from '../topology/topology.ts';

/** An index in MySQL: a table in each shard's database, named after its definition's hash. */
export interface PhysicalIndex {
  readonly name: string;
  readonly hash: string;
  readonly definition: IndexDefinition;
}

/** `driver_partner_index_1a2b3c4d`. */
export function indexTableName(name: string, hash: string): string {
  return `${name}_${hash}`;
}

/** Returns the quoted name of an index's table in one shard, or in its copy on another group. */
export function indexTable(
  datastore: string,
  shard: number,
  index: Pick<PhysicalIndex, 'name' | 'hash'>,
  of: 'shard' | 'copy' = 'shard',
): string {
  return tableIn(of === 'copy' ? copyDatabase(datastore, shard) : shardDatabase(datastore, shard), index);
}

function tableIn(database: string, { name, hash }: Pick<PhysicalIndex, 'name' | 'hash'>): string {
  return `${quoteName(database)}.${quoteName(indexTableName(name, hash))}`;
}

/** Column types. Bytes for text: no collation decides what is equal. */
const COLUMN_TYPE: Readonly<Record<FieldType, string>> = {
  UUID: 'BINARY(16)',
  string: `VARBINARY(${STRING_BYTES})`,
  integer: 'BIGINT',
  number: 'DOUBLE',
  boolean: 'TINYINT UNSIGNED',
  datetime: 'DATETIME(6)',
};

/**
 * Creates the table of an index in the database of a shard, or of its copy. Fields are `f0` (the shard field), `f1`, …,
 * since names may be
 * paths; comments tell them.
 *
 * - The primary key is (shard field, row key): one entry a row under each value.
 * - Each other field has a key (shard field, field, row key) for equality, ranges and order; `keys:` adds combinations.
 * - (epoch, added_id) is the entry's version: its place in the row's log.
 * - A tombstone keeps an entry under a former value from coming back, until it is purged.
 */
export function createIndexTable(
  database: string,
  { hash, definition }: Pick<PhysicalIndex, 'hash' | 'definition'>,
): Statement {
  const { name, fields, keys } = definition;
  const columns = fields.map(
    ({ field, type }, position) =>
      `f${position} ${COLUMN_TYPE[type]} ${position === 0 ? 'NOT NULL' : 'NULL'} COMMENT '${field.replaceAll(/['\\]/gu, String.raw`\$&`)}'`,
  );
  const single = fields.slice(1).map((_, position) => [position + 1]);
  const combined = keys.map((names) => names.map((name) => fields.findIndex(({ field }) => field === name)));
  const secondary = [...single, ...combined].map(
    (positions) =>
      `KEY k_${positions.join('_')} (f0, ${positions.map((position) => `f${position}`).join(', ')}, row_key)`,
  );
  const sql =
    `CREATE TABLE IF NOT EXISTS ${tableIn(database, { name, hash })} (${columns.join(', ')}, ` +
    `row_key BINARY(16) NOT NULL, epoch INT UNSIGNED NOT NULL, added_id BIGINT UNSIGNED NOT NULL, tombstone_at DATETIME(6) NULL, ` +
    `PRIMARY KEY (f0, row_key), ${[...secondary, 'KEY tombstones (tombstone_at)'].join(', ')}) ENGINE=InnoDB`;
  return { sql, parameters: [] };
}

export function dropIndexTable(database: string, index: Pick<PhysicalIndex, 'name' | 'hash'>): Statement {
  const table = tableIn(database, index);
  return { table, sql: `DROP TABLE IF EXISTS ${table}`, parameters: [] };
}

export function toSql(value: FieldValue, type: FieldType): SqlParameter {
  if (value === null) return null;
  switch (type) {
    case 'UUID':
      return rowKeyBytes(String(value));
    case 'string':
      return Buffer.from(String(value));
    case 'boolean':
      return value === true ? 1 : 0;
    case 'datetime':
      return toSqlTime(String(value));
    default:
      return typeof value === 'bigint' ? value : Number(value);
  }
}

export function fromSql(value: SqlValue, type: FieldType): FieldValue {
  if (value === null) return null;
  switch (type) {
    case 'UUID':
      return rowKeyOf(toBytes(value));
    case 'string':
      return toText(value);
    case 'integer':
      return Number.isSafeInteger(Number(value)) ? Number(value) : BigInt(String(value));
    case 'number':
      return Number(value);
    case 'boolean':
      return Number(value) === 1;
    case 'datetime':
      return fromSqlTime(String(value));
    default:
      return type satisfies never;
  }
}

/** Replaced versions are maintained for twice the age of a cached catalogue: instances may still query them. */
export const RETIRED_FOR_MS = 120_000;

/** Returns the versions that writes maintain: the same objects while they are, since reads are keyed by them. */
export async function maintainedIndexes(
  topology: TopologySource,
  datastore: string,
  now: number = Date.now(),
): Promise<readonly PhysicalIndex[]> {
  const catalogues = await topology.indexes(datastore);
  const known = maintained.get(catalogues);
  if (known && now < known.until) return known.indexes;
  const found = maintainedOf(catalogues, now);
  maintained.set(catalogues, found);
  return found.indexes;
}

interface Maintained {
  readonly indexes: readonly PhysicalIndex[];
  readonly until: number;
}

/** By the catalogues, which stay the same until the topology is read again. */
const maintained = new WeakMap<readonly IndexCatalogue[], Maintained>();

/** The versions that are kept, and until when those are all: a retired one for `retiredForMs`. */
export function maintainedOf(
  catalogues: readonly IndexCatalogue[],
  now: number,
  retiredForMs = RETIRED_FOR_MS,
): Maintained {
  let until = Number.POSITIVE_INFINITY;
  const indexes = catalogues.flatMap(({ name, versions }) =>
    versions.flatMap(({ state, retired_at, hash, definition }): readonly PhysicalIndex[] => {
      const end = state === 'retired' ? Date.parse(retired_at ?? '') + retiredForMs : Number.POSITIVE_INFINITY;
      if (Number.isNaN(end) || now >= end) return [];
      until = Math.min(until, end);

      return [{ name, hash, definition }];
    }),
  );
  return { indexes, until };
}
