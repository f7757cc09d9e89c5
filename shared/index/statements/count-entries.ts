import { rowKeyBytes, rowKeyOf } from '../../address.ts';
import { fromSql, toSql, indexTable, type PhysicalIndex } from '../index-table.ts';
import { toBytes, toNumber } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import type { FieldValue } from '../../definitions/field-value.ts';

/** A counted part of a table, and its last entry. */
interface CountedPage {
  readonly value: FieldValue;
  readonly row_key: string;
  readonly rows: number;
  readonly live: number;
}

/** The position from which the count of one shard's table continues. */
export interface CountFrom {
  readonly shard: number;
  readonly after: Pick<CountedPage, 'value' | 'row_key'> | undefined;
}

/** Counts a table's next `most` entries and tombstones by two ranges of the primary key, which read no more. */
export function countPage(
  datastore: string,
  index: PhysicalIndex,
  { shard, after }: CountFrom,
  most: number,
  item: number,
): Statement {
  const table = indexTable(datastore, shard, index);
  const range = (where: string): string =>
    `(SELECT f0, row_key, tombstone_at FROM ${table} FORCE INDEX (PRIMARY) ${where}ORDER BY f0, row_key LIMIT ${most})`;
  const ranges = after ? `${range('WHERE f0 = ? AND row_key > ? ')} UNION ALL ${range('WHERE f0 > ? ')}` : range('');
  const value = after && toSql(after.value, index.definition.fields[0]?.type ?? 'UUID');
  return {
    table,
    sql:
      `(SELECT ${item} AS item, f0, row_key, place, live FROM (SELECT f0, row_key, ROW_NUMBER() OVER (ORDER BY f0, row_key) AS place, ` +
      `SUM(tombstone_at IS NULL) OVER (ORDER BY f0, row_key) AS live FROM ` +
      `(SELECT f0, row_key, tombstone_at FROM (${ranges}) AS beyond ORDER BY f0, row_key LIMIT ${most}) AS page) AS counted ORDER BY place DESC LIMIT 1)`,
    parameters: after && value !== undefined ? [value, rowKeyBytes(after.row_key), value] : [],
  };
}

/** Returns the pages by item; none of a table that is at its end. */
export function toCountedPages(rows: readonly SqlRow[], index: PhysicalIndex): Map<number, CountedPage> {
  return new Map(
    rows.map(([item, value = null, rowKey, place, live]) => [
      toNumber(item),
      {
        value: fromSql(value, index.definition.fields[0]?.type ?? 'UUID'),
        row_key: rowKeyOf(toBytes(rowKey)),
        rows: toNumber(place),
        live: toNumber(live),
      },
    ]),
  );
}
