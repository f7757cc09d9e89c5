import { rowKeyBytes } from '../../address.ts';
import { fromSql, indexTable, type PhysicalIndex } from '../index-table.ts';
import type { FieldValue } from '../../definitions/field-value.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';

/** Selects the values of a row's entries in one shard, tombstones included. Reads a whole key; rarely asked. */
export function selectEntriesOfRow(datastore: string, shard: number, index: PhysicalIndex, rowKey: string): Statement {
  const table = indexTable(datastore, shard, index);
  return { table, sql: `SELECT f0 FROM ${table} WHERE row_key = ?`, parameters: [rowKeyBytes(rowKey)] };
}

export function toEntryValue([value = null]: SqlRow, index: PhysicalIndex): FieldValue {
  return fromSql(value, index.definition.fields[0]?.type ?? 'UUID');
}
