import { rowKeyBytes, rowKeyOf } from '../../address.ts';
import { fromSql, toSql, indexTable, type PhysicalIndex } from '../index-table.ts';
import { toBytes, toNumber } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import type { FieldValue } from '../../definitions/field-value.ts';

/** Counts the live entries of one shard up to `most`, in the key of tombstones, which bounds what is read. */
export function countEntries(
  datastore: string,
  shard: number,
  index: PhysicalIndex,
  most: number,
  item: number,
): Statement {
  const table = indexTable(datastore, shard, index);
  return {
    table,
    sql: `SELECT ${item} AS item, COUNT(*) AS entries FROM (SELECT 1 FROM ${table} WHERE tombstone_at IS NULL LIMIT ${most}) AS some`,
    parameters: [],
  };
}

export function toCounts(rows: readonly SqlRow[]): Map<number, number> {
  return new Map(rows.map(([item, count]) => [toNumber(item), toNumber(count)]));
}

/** A counted part of a table, and its last entry. */
export interface CountedPage {
  readonly value: FieldValue;
  readonly row_key: string;
  readonly rows: number;
  readonly live: number;
}

/**
 * Counts the next `most` entries and tombstones of one shard's table, by primary key. Two ranges: one value of the
 * shard field may have a million entries, with which one range would begin each time.
 */
export function countPage(
  datastore: string,
  shard: number,
  index: PhysicalIndex,
  after: Pick<CountedPage, 'value' | 'row_key'> | undefined,
  most: number,
): Statement {
  const table = indexTable(datastore, shard, index);
  const range = (where: string): string =>
    `(SELECT f0, row_key, tombstone_at FROM ${table} FORCE INDEX (PRIMARY) ${where}ORDER BY f0, row_key LIMIT ${most})`;
  const ranges = after ? `${range('WHERE f0 = ? AND row_key > ? ')} UNION ALL ${range('WHERE f0 > ? ')}` : range('');
  const value = after && toSql(after.value, index.definition.fields[0]?.type ?? 'UUID');
  return {
    table,
    sql:
      `SELECT f0, row_key, place, live FROM (SELECT f0, row_key, ROW_NUMBER() OVER (ORDER BY f0, row_key) AS place, ` +
      `SUM(tombstone_at IS NULL) OVER (ORDER BY f0, row_key) AS live FROM ` +
      `(SELECT f0, row_key, tombstone_at FROM (${ranges}) AS beyond ORDER BY f0, row_key LIMIT ${most}) AS page) AS counted ORDER BY place DESC LIMIT 1`,
    parameters: after && value !== undefined ? [value, rowKeyBytes(after.row_key), value] : [],
  };
}

export function toCountedPage([row]: readonly SqlRow[], index: PhysicalIndex): CountedPage | undefined {
  return (
    row && {
      value: fromSql(row[0] ?? null, index.definition.fields[0]?.type ?? 'UUID'),
      row_key: rowKeyOf(toBytes(row[1])),
      rows: toNumber(row[2]),
      live: toNumber(row[3]),
    }
  );
}
