import { rowKeyBytes, rowKeyOf } from '../../address.ts';
import type { Version } from '../entry.ts';
import { fromSql, toSql, indexTable, type PhysicalIndex } from '../index-table.ts';
import { toBytes, toNumber } from '../../sql/cell-rows.ts';
import type { SqlParameter, SqlRow, Statement } from '../../sql/client.ts';
import type { FieldValue } from '../../definitions/field-value.ts';

export interface EntryKey {
  readonly value: FieldValue;
  readonly row_key: string;
}

export interface ScannedEntry extends EntryKey {
  readonly version: Version;
}

export function selectIndexPage(
  datastore: string,
  shard: number,
  index: PhysicalIndex,
  after: EntryKey | undefined,
  limit: number,
): Statement {
  const parameters: SqlParameter[] = [];
  let beyond = '';
  if (after) {
    const value = toSql(after.value, index.definition.fields[0]?.type ?? 'UUID');
    parameters.push(value, value, rowKeyBytes(after.row_key));
    beyond = 'AND f0 >= ? AND (f0 > ? OR row_key > ?) ';
  }
  parameters.push(limit);
  const table = indexTable(datastore, shard, index);
  return {
    table,
    sql: `SELECT f0, row_key, epoch, added_id FROM ${table} FORCE INDEX (PRIMARY) WHERE tombstone_at IS NULL ${beyond}ORDER BY f0, row_key LIMIT ?`,
    parameters,
  };
}

export function toScannedEntry([value, rowKey, epoch, added_id]: SqlRow, index: PhysicalIndex): ScannedEntry {
  return {
    value: fromSql(value ?? null, index.definition.fields[0]?.type ?? 'UUID'),
    row_key: rowKeyOf(toBytes(rowKey)),
    version: { epoch: toNumber(epoch), added_id: toNumber(added_id) },
  };
}
