import type { Cell } from '../../shared/cell.ts';
import type { IndexDefinition } from '../../shared/definitions/definitions.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { encodeCursor } from '../../shared/index/cursor.ts';
import { entriesOf } from '../../shared/index/entry.ts';
import type { IndexAnswer, IndexCount, IndexCounted, IndexQuery } from '../../shared/contract/index-query.ts';
import { parseQuery, type Filter } from '../../shared/index/query.ts';
import { parseCountLimit } from '../../shared/index/run-count.ts';
import { type FieldValue, keyOfValue } from '../../shared/definitions/field-value.ts';

/** Answers a query over all cells in memory: one entry for each row that has the shard field. */
export function referenceQuery(
  indexes: readonly IndexDefinition[],
  cells: readonly Cell[],
  shards: number,
  query: IndexQuery,
): IndexAnswer {
  const { definition, parsed, found } = referenceEntries(indexes, cells, shards, query);
  const page = found.slice(0, parsed.limit);
  const last = page.at(-1);
  return {
    entries: page.map(({ row_key, values, latest }) => ({
      row_key,
      fields: Object.fromEntries(
        parsed.fields.map((position) => [definition.fields[position]?.field ?? '', values[position] ?? null]),
      ),
      ...(parsed.columns === undefined
        ? {}
        : {
            cells: latest.filter(({ column_name }) => parsed.columns === '*' || parsed.columns?.includes(column_name)),
          }),
    })),
    next: last && found.length > page.length ? encodeCursor(last, parsed.identity()) : null,
    served_by: 'writer',
    stale: false,
  };
}

function referenceEntries(
  indexes: readonly IndexDefinition[],
  cells: readonly Cell[],
  shards: number,
  query: IndexQuery,
) {
  const definition = indexes.find(({ name }) => name === query.index);
  if (!definition) throw new SchemalessError('unknown_index', `no index ${query.index}`, { field: 'index' });
  const parsed = parseQuery(query, definition, shards);
  const { order, after } = parsed;
  const entries = [...Map.groupBy(cells, ({ row_key }) => row_key)].flatMap(([row_key, ofRow]) => {
    const latest = [...Map.groupBy(ofRow, ({ column_name }) => column_name).values()].map((column) =>
      column.reduce((a, b) => (a.ref_key > b.ref_key ? a : b)),
    );
    const { values } = entriesOf(definition, new Map(latest.map(({ column_name, body }) => [column_name, body])));
    return values ? [{ row_key, values, latest }] : [];
  });
  const orderOf = (values: readonly FieldValue[]): FieldValue => (order ? (values[order.position] ?? null) : null);
  const compare = (
    a: { readonly row_key: string; readonly value: FieldValue },
    b: { readonly row_key: string; readonly value: FieldValue },
  ): number => (compareValues(a.value, b.value) || compareValues(a.row_key, b.row_key)) * (order?.descending ? -1 : 1);

  const found = entries
    .filter(({ values }) => values[0] !== undefined && keyOfValue(values[0]) === keyOfValue(parsed.shardValue))
    .filter(({ values }) => parsed.filters.every((filter) => meets(values[filter.position] ?? null, filter)))
    .map((entry) => ({ ...entry, value: orderOf(entry.values) }))
    .filter((entry) => !after || compare(entry, after) > 0)
    .sort(compare);
  return { definition, parsed, found };
}

export function referenceCount(
  indexes: readonly IndexDefinition[],
  cells: readonly Cell[],
  shards: number,
  { index, where, limit }: IndexCount,
): IndexCounted {
  const most = parseCountLimit(limit);
  const found = referenceEntries(indexes, cells, shards, { index, where }).found.length;
  return { count: Math.min(found, most), complete: found <= most, served_by: 'writer', stale: false };
}

function meets(value: FieldValue, { operator, values }: Filter): boolean {
  if (value === null) return false;
  const order = compareValues(value, values[0] ?? null);
  switch (operator) {
    case 'eq':
      return order === 0;
    case 'ne':
      return order !== 0;
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
    case 'in':
      return values.some((one) => compareValues(value, one) === 0);
    default:
      return operator satisfies never;
  }
}

/** Null first; text by its bytes; numbers by their value. */
function compareValues(a: FieldValue, b: FieldValue): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
