import { rowKeyBytes } from '../../address.ts';
import type { Version } from '../entry.ts';
import { fromSql, toSql, indexTable, type PhysicalIndex } from '../index-table.ts';
import { toNumber } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { unionOf } from '../../sql/union.ts';
import type { FieldValue } from '../../definitions/field-value.ts';

interface EntryKey {
  readonly item: number;
  readonly shard: number;
  readonly value: FieldValue;
  readonly row_key: string;
}

export interface ExistingEntry {
  readonly values: readonly FieldValue[];
  readonly version: Version;
  readonly tombstone: boolean;
}

export function selectExistingEntries(datastore: string, index: PhysicalIndex, keys: readonly EntryKey[]): Statement {
  const { fields } = index.definition;
  const columns = fields.map((_, position) => `f${position}`).join(', ');
  const type = fields[0]?.type ?? 'UUID';
  return unionOf(
    keys.map(({ item, shard, value, row_key }) => {
      const table = indexTable(datastore, shard, index);
      const sql = `SELECT ${item} AS item, epoch, added_id, tombstone_at IS NOT NULL AS tombstone, ${columns} FROM ${table} WHERE f0 = ? AND row_key = ?`;
      return { sql, parameters: [toSql(value, type), rowKeyBytes(row_key)], table };
    }),
  );
}

export function toExistingEntries(
  rows: readonly SqlRow[],
  index: PhysicalIndex,
  items: number,
): (ExistingEntry | undefined)[] {
  const found = Array.from<ExistingEntry | undefined>({ length: items });
  for (const [item, epoch, added_id, tombstone, ...values] of rows) {
    found[toNumber(item)] = {
      version: { epoch: toNumber(epoch), added_id: toNumber(added_id) },
      tombstone: toNumber(tombstone) === 1,
      values: index.definition.fields.map(({ type }, position) => fromSql(values[position] ?? null, type)),
    };
  }
  return found;
}
