import type { FieldTypes, WhereOf } from '../client/declared-index.ts';
import { shardOfValue } from '../definitions/field-value.ts';
import { invalidField, SchemalessError } from '../errors.ts';
import { shardDatabase } from '../address.ts';
import type { IndexDeclaration, ModelDeclaration, Order, ValuesOf } from './declaration.ts';
import { type ModelCells, modelRecord, readCells, type ModelRecord } from './model-record.ts';
import { valueOfField } from './row-key.ts';
import type { Shards } from './model-shards.ts';
import type { IndexCounted, IndexEntry, Query } from '../contract/index-query.ts';
import type { Role } from '../cell.ts';

export interface ModelIndex<D extends ModelDeclaration, Index extends IndexDeclaration> {
  readonly index: string;
  /** Returns the records that meet all conditions. An absent field meets none, `ne` included. */
  where(conditions: WhereOf<Index>, options?: FindOptions<Order<Index>>): FoundRecords<D>;
  /** Returns the shard of the entries under a value of the shard field. */
  findShard(value: ShardValue<Index>): Promise<number>;
  /** Returns their table: `rates_0196.rate_primary_1a2b3c4d`. */
  findTable(value: ShardValue<Index>): Promise<string>;
}

export type ShardValue<Index extends IndexDeclaration> = ValuesOf<Index['shardOn']>[keyof Index['shardOn']];

/** Returns the fields of an index, the shard field first. Throws unless there is one shard field. */
export function fieldsOf({ index, shardOn, fields = {} }: IndexDeclaration): FieldTypes {
  const all = { ...shardOn, ...fields };
  const names = Object.keys(all);
  if (Object.keys(shardOn).length !== 1)
    throw invalidField(`${index}.shardOn`, 'one field', Object.keys(shardOn).join());
  const path = names.find((name) => name.includes('.'));
  if (path !== undefined) throw invalidField(`${index}.fields`, 'members of the body of base, no paths', path);
  return all;
}

export function modelIndex<D extends ModelDeclaration, Index extends IndexDeclaration>(
  model: ModelCells,
  shards: Shards,
  declaration: Index,
): ModelIndex<D, Index> {
  const { index } = declaration;
  const fields = fieldsOf(declaration);
  const [shardField = ''] = Object.keys(declaration.shardOn);
  const findShard = async (value: unknown): Promise<number> => {
    const type = fields[shardField] ?? 'string';
    return shardOfValue(valueOfField(shardField, type, { [shardField]: value }), type, await shards.count());
  };
  return {
    index,
    where: (conditions, options = {}) =>
      foundRecords<D>(model, { index, where: conditions as Query['where'] }, options),
    findShard,
    async findTable(value) {
      const [shard, { table }] = await Promise.all([findShard(value), model.datastore.getIndex(index)]);
      return `${shardDatabase(model.datastore.name, shard)}.${table}`;
    },
  };
}

export interface FindOptions<Order extends string = string> {
  /** A field, `-field` for the highest first. @default the row key */
  readonly order?: Order;
  readonly limit?: number;
  /** The node to ask first. @default 'writer' */
  readonly read?: Role;
}

/** Records that an index finds. Each iteration reads them again, page by page on demand. */
export interface FoundRecords<D extends ModelDeclaration> extends AsyncIterable<ModelRecord<D>> {
  toArray(): Promise<ModelRecord<D>[]>;
  first(): Promise<ModelRecord<D> | null>;
  /** Counts them, up to a limit of at most 10,000; `complete` is false if there are more. */
  count(options?: { readonly limit?: number }): Promise<IndexCounted>;
}

const PAGE = 100;

function foundRecords<D extends ModelDeclaration>(
  model: ModelCells,
  search: Pick<Query, 'index' | 'where'>,
  options: FindOptions,
): FoundRecords<D> {
  const { datastore, modelColumns } = model;
  const columns = modelColumns.map(({ column_name }) => column_name);

  async function* records(most = options.limit ?? Number.POSITIVE_INFINITY): AsyncGenerator<ModelRecord<D>> {
    let left = most;
    for (let after: string | undefined; left > 0;) {
      const { order, read } = options;
      const page = { order, columns, after, read, limit: Math.min(PAGE, left) };
      const { entries, next } = await datastore.query({ ...search, ...page });
      for (const entry of entries) yield modelRecord<D>(model, entry.row_key, await cellsOf(model, entry));
      left -= entries.length;
      if (next === null) return;
      after = next;
    }
  }

  return {
    [Symbol.asyncIterator]: () => records(),
    async toArray() {
      const all: ModelRecord<D>[] = [];
      for await (const record of records()) all.push(record);
      return all;
    },
    async first() {
      for await (const record of records(1)) return record;
      return null;
    },
    count: ({ limit } = {}) => datastore.count({ ...search, limit, read: options.read }),
  };
}

/** Returns the cells of an entry; reads them alone if they did not fit into the answer. */
async function cellsOf(model: ModelCells, { row_key, cells = [] }: IndexEntry) {
  if (!('error' in cells)) return cells;
  if (cells.error instanceof SchemalessError && cells.error.code === 'answer_too_large')
    return readCells(model, row_key);
  throw cells.error;
}
