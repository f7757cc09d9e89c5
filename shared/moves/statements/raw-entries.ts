import { toBytes, toNumber } from '../../sql/cell-rows.ts';
import type { SqlParameter, SqlRow, SqlValue, Statement } from '../../sql/client.ts';
import { quoteName } from '../../sql/names.ts';

/** A table of an index, of a shard or of its copy. */
export interface EntryTable {
  readonly database: string;
  readonly table: string;
  readonly fields: number;
}

/** A row of an index table, byte for byte: fields, row key, epoch, added id, time of a tombstone. */
export type RawEntry = SqlRow;

/** The key of a row of an index table: its shard field, and its row. */
export interface EntryKey {
  readonly f0: SqlParameter;
  readonly row_key: Uint8Array;
}

const nameOf = ({ database, table }: EntryTable): string => `${quoteName(database)}.${quoteName(table)}`;

function columnsOf({ fields }: EntryTable): string {
  return [
    ...Array.from({ length: fields }, (_, field) => `f${field}`),
    'row_key',
    'epoch',
    'added_id',
    'tombstone_at',
  ].join(', ');
}

/** The rows that follow a key, in their order. */
export function selectRawEntries(table: EntryTable, after: EntryKey | undefined, limit: number): Statement {
  const where = after ? 'WHERE f0 >= ? AND (f0 > ? OR row_key > ?)' : '';
  return {
    sql: `SELECT ${columnsOf(table)} FROM ${nameOf(table)} ${where} ORDER BY f0, row_key LIMIT ?`,
    parameters: [...(after ? [after.f0, after.f0, after.row_key] : []), limit],
    table: nameOf(table),
  };
}

/** The rows between two keys, the last one included: the keys and versions alone. */
export function selectRawKeys(
  table: EntryTable,
  after: EntryKey | undefined,
  to: EntryKey | undefined,
  limit: number,
): Statement {
  const bounds = [
    ...(after ? ['f0 >= ? AND (f0 > ? OR row_key > ?)'] : []),
    ...(to ? ['f0 <= ? AND (f0 < ? OR row_key <= ?)'] : []),
  ];
  return {
    sql: `SELECT f0, row_key, epoch, added_id FROM ${nameOf(table)} ${bounds.length > 0 ? `WHERE ${bounds.join(' AND ')}` : ''} ORDER BY f0, row_key LIMIT ?`,
    parameters: [
      ...(after ? [after.f0, after.f0, after.row_key] : []),
      ...(to ? [to.f0, to.f0, to.row_key] : []),
      limit,
    ],
    table: nameOf(table),
  };
}

/** Writes rows as they are, each only over one of a lower version. */
export function putRawEntries(table: EntryTable, rows: readonly RawEntry[]): Statement {
  const { fields } = table;
  const newer = '(epoch < VALUES(epoch) OR (epoch = VALUES(epoch) AND added_id < VALUES(added_id)))';
  // The version last: the assignments before are to see what it was.
  const assigned = [
    ...Array.from({ length: fields - 1 }, (_, field) => `f${field + 1}`),
    'tombstone_at',
    'added_id',
  ].map((name) => `${name} = IF(${newer}, VALUES(${name}), ${name})`);
  return {
    sql:
      `INSERT INTO ${nameOf(table)} (${columnsOf(table)}) VALUES ${rows.map(() => `(${Array.from({ length: fields + 4 }, () => '?').join(', ')})`).join(', ')} ` +
      `ON DUPLICATE KEY UPDATE ${assigned.join(', ')}, epoch = GREATEST(epoch, VALUES(epoch))`,
    parameters: rows.flat().map(toParameter),
  };
}

/** Deletes a row that is still as it was seen. */
export function deleteRawEntry(table: EntryTable, [f0, row_key, epoch, added_id]: SqlRow): Statement {
  return {
    sql: `DELETE FROM ${nameOf(table)} WHERE f0 = ? AND row_key = ? AND epoch = ? AND added_id = ?`,
    parameters: [f0, row_key, epoch, added_id].map(toParameter),
  };
}

/** Of a row of an index table with so many fields. */
export function keyOfEntry(row: RawEntry, fields: number): EntryKey {
  return { f0: toParameter(row[0]), row_key: toBytes(row[fields]) };
}

/** Returns the version that orders two rows with the same key. */
export function versionOfEntry(row: RawEntry, at: number): readonly [epoch: number, added_id: number] {
  return [toNumber(row[at]), toNumber(row[at + 1])];
}

function toParameter(value: SqlValue | undefined): SqlParameter {
  return value ?? null;
}
