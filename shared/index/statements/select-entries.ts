import { rowKeyBytes, rowKeyOf } from '../../address.ts';
import type { Operator } from '../../where.ts';
import { indexTable, type PhysicalIndex, fromSql, toSql } from '../index-table.ts';
import type { Filter, ParsedQuery } from '../query.ts';
import { toBytes } from '../../sql/cell-rows.ts';
import type { SqlParameter, SqlRow, Statement } from '../../sql/client.ts';
import type { FieldValue } from '../../definitions/field-value.ts';

const COMPARISON: Readonly<Record<Exclude<Operator, 'in'>, string>> = {
  eq: '=',
  ne: '<>',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
};

/** Selects a page of a query's entries and one more; `item` numbers the rows in a union. */
export function selectEntries(datastore: string, index: PhysicalIndex, query: ParsedQuery, item?: number): Statement {
  const { fields } = index.definition;
  const { conditions, parameters } = conditionsOf(index, query);
  const { order, after } = query;
  if (after) {
    const type = order ? (fields[order.position]?.type ?? 'string') : 'string';
    conditions.push(beyond(query, after.value, parameters, type, rowKeyBytes(after.row_key)));
  }
  const direction = order?.descending ? 'DESC' : 'ASC';
  const sorting = order ? `f${order.position} ${direction}, row_key ${direction}` : 'row_key ASC';
  parameters.push(query.limit + 1);
  const columns = [
    'row_key',
    ...fields.slice(1).map((_, position) => `f${position + 1}`),
    ...(item === undefined ? [] : [`${item} AS item`]),
  ];
  const table = indexTable(datastore, query.shard, index);
  const sql =
    `SELECT ${orderHint(query)}${columns.join(', ')} FROM ${table} AS entry ` +
    `WHERE ${conditions.join(' AND ')} ORDER BY ${sorting} LIMIT ?`;
  return { sql: item === undefined ? sql : `(${sql})`, parameters, table };
}

export function conditionsOf(
  { definition: { fields } }: PhysicalIndex,
  { shardValue, filters }: ParsedQuery,
): { readonly conditions: string[]; readonly parameters: SqlParameter[] } {
  const parameters: SqlParameter[] = [toSql(shardValue, fields[0]?.type ?? 'UUID')];
  const conditions = ['f0 = ?', 'tombstone_at IS NULL'];
  for (const { position, operator, values } of filters) {
    const type = fields[position]?.type ?? 'string';
    conditions.push(
      operator === 'in'
        ? `f${position} IN (${values.map(() => '?').join(', ')})`
        : `f${position} ${COMPARISON[operator]} ?`,
    );
    parameters.push(...values.map((value) => toSql(value, type)));
  }
  return { conditions, parameters };
}

/** Keeps MySQL from reading all entries of the shard field's value just to spare a sort. */
export function orderHint({ filters }: ParsedQuery): string {
  return filters.some(({ operator }) => operator !== 'ne') ? '/*+ NO_ORDER_INDEX(entry PRIMARY, tombstones) */ ' : '';
}

/** Returns the condition for what follows the last entry. NULL sorts first. */
function beyond(
  { order, filters }: ParsedQuery,
  value: FieldValue,
  parameters: SqlParameter[],
  type: Parameters<typeof toSql>[1],
  rowKey: Uint8Array,
): string {
  if (!order) {
    parameters.push(rowKey);
    return 'row_key > ?';
  }
  const field = `f${order.position}`;
  const [further, orEqual] = order.descending ? ['<', '<='] : ['>', '>='];
  if (value === null) {
    parameters.push(rowKey);
    return order.descending ? `(${field} IS NULL AND row_key < ?)` : `(${field} IS NOT NULL OR row_key > ?)`;
  }
  const bound = toSql(value, type);
  parameters.push(bound, bound, rowKey);
  const range = `${field} ${orEqual} ? AND (${field} ${further} ? OR row_key ${further} ?)`;
  // A filter on the field leaves no nulls.
  const nullsFollow = order.descending && !filters.some(({ position }: Filter) => position === order.position);
  return nullsFollow ? `((${range}) OR ${field} IS NULL)` : range;
}

export interface FoundEntry {
  readonly row_key: string;
  readonly values: readonly FieldValue[];
}

export function toFoundEntry(
  row: SqlRow,
  { definition: { fields } }: PhysicalIndex,
  shardValue: FieldValue,
): FoundEntry {
  const values = [shardValue];
  for (let position = 1; position < fields.length; position += 1)
    values.push(fromSql(row[position] ?? null, fields[position]?.type ?? 'string'));
  return { row_key: rowKeyOf(toBytes(row[0])), values };
}
