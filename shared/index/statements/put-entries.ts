import { rowKeyBytes } from '../../address.ts';
import type { Version } from '../entry.ts';
import { toSql, indexTable, type PhysicalIndex } from '../index-table.ts';
import type { SqlParameter, Statement } from '../../sql/client.ts';
import type { FieldValue } from '../../definitions/field-value.ts';

/** An entry, or a tombstone, whose fields but the first are null. */
export interface IndexRow {
  readonly row_key: string;
  readonly values: readonly FieldValue[];
  readonly tombstone: boolean;
  readonly version: Version;
}

/** Writes entries over the same or lower versions; assigns the version last, as MySQL goes left to right. */
export function putEntries(
  datastore: string,
  shard: number,
  index: PhysicalIndex,
  rows: readonly IndexRow[],
  of: 'shard' | 'copy' = 'shard',
): Statement {
  const { fields } = index.definition;
  const names = fields.map((_, position) => `f${position}`);
  const newer = '(epoch < VALUES(epoch) OR (epoch = VALUES(epoch) AND added_id <= VALUES(added_id)))';
  const assigned = [...names.slice(1), 'tombstone_at', 'added_id'].map(
    (name) => `${name} = IF(${newer}, VALUES(${name}), ${name})`,
  );
  const table = indexTable(datastore, shard, index, of);
  return {
    table,
    mayShareCommit: true,
    sql:
      `INSERT INTO ${table} (${names.join(', ')}, row_key, epoch, added_id, tombstone_at) ` +
      `VALUES ${rows.map(() => `(${names.map(() => '?').join(', ')}, ?, ?, ?, IF(?, SYSDATE(6), NULL))`).join(', ')} ` +
      `ON DUPLICATE KEY UPDATE ${assigned.join(', ')}, epoch = GREATEST(epoch, VALUES(epoch))`,
    parameters: rows.flatMap(({ row_key, values, tombstone, version }): SqlParameter[] => [
      ...fields.map(({ type }, position) => toSql(tombstone && position > 0 ? null : (values[position] ?? null), type)),
      rowKeyBytes(row_key),
      version.epoch,
      version.added_id,
      tombstone ? 1 : 0,
    ]),
  };
}

/** Inserts first entries, no tombstones, at half the cost of `putEntries`; a `duplicate` if any is there. */
export function insertEntries(
  datastore: string,
  shard: number,
  index: PhysicalIndex,
  rows: readonly Omit<IndexRow, 'tombstone'>[],
): Statement {
  const { fields } = index.definition;
  const table = indexTable(datastore, shard, index);
  const names = [...fields.map((_, position) => `f${position}`), 'row_key', 'epoch', 'added_id'];
  return {
    table,
    mayShareCommit: true,
    mayBeThere: true,
    sql: `INSERT INTO ${table} (${names.join(', ')}) VALUES ${rows.map(() => `(${names.map(() => '?').join(', ')})`).join(', ')}`,
    parameters: rows.flatMap(({ row_key, values, version }): SqlParameter[] => [
      ...fields.map(({ type }, position) => toSql(values[position] ?? null, type)),
      rowKeyBytes(row_key),
      version.epoch,
      version.added_id,
    ]),
  };
}
