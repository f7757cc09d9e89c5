import { parseRowKey, shardDatabase, shardOf } from '../address.ts';
import type { FieldTypes, WhereOf } from '../client/declared-index.ts';
import type {
  BaseInput,
  Complete,
  IndexDeclaration,
  IndexFields,
  ModelDatastore,
  ModelDeclaration,
  Order,
  TupleOf,
  WellDeclaredModel,
} from './declaration.ts';
import {
  type FindOptions,
  type FoundRecords,
  fieldsOf,
  modelIndex,
  type ModelIndex,
  type ShardValue,
} from './model-index.ts';
import { modelRecord, readCells, type ModelCells, type ModelRecord } from './model-record.ts';
import { latestCells, paddedShard, shardsOf, type LatestCells, type LogLocation, type Shards } from './model-shards.ts';
import { rowKeyOfTuple, valueOfField } from './row-key.ts';

type NamedIndexes<D extends ModelDeclaration> = D extends {
  readonly indexes: infer Named extends { readonly [name: string]: IndexDeclaration };
}
  ? { readonly [Name in keyof Named]: ModelIndex<D, Named[Name]> }
  : {};

/** A group of servers, with a model's shards and tables there. */
export interface Partition {
  readonly group: string;
  readonly shards: readonly number[];
  /** Of its cells (`rates_0233.entity`, which other models share) and of each index. */
  readonly tables: readonly string[];
}

export interface Model<D extends ModelDeclaration> {
  readonly name: string;
  /** The columns of its cells, by the names of the cells. */
  readonly columns: ReadonlyMap<string, string>;
  readonly primary: ModelIndex<D, D['primary']>;
  readonly indexes: NamedIndexes<D>;
  /** Returns the row key of a tuple: see `rowKeyOfTuple`. */
  rowKey(tuple: TupleOf<D['primary']>): string;
  /**
   * Creates the record of the tuple of primary index fields, or merges the body into the existing one as its next
   * version; writes nothing if none differs. Concurrent calls make one record, and the last one's members win. Throws
   * SchemalessError `missing_field`, `invalid_field` for an index field, `invalid_body`; ModelError `readonly_field`.
   */
  put(body: BaseInput<D> & IndexFields<D>): Promise<ModelRecord<D>>;
  /** Returns the current record of a tuple, by its row key, without the index; null if there is none. */
  find(tuple: TupleOf<D['primary']>): Promise<ModelRecord<D> | null>;
  findRow(uuid: string): Promise<ModelRecord<D> | null>;
  /** As `primary.where`. */
  where(conditions: WhereOf<D['primary']>, options?: FindOptions<Order<D['primary']>>): FoundRecords<D>;
  fetchLatestCells(location: LogLocation): Promise<LatestCells>;
  /** Returns the added id of a shard's last cell, of any model; 0 if it is empty. */
  maxIdOnShard(shard: number): Promise<number>;
  eachShard(): AsyncIterable<number>;
  /** Yields the groups of servers, with their shards and tables. */
  eachPartition(): AsyncIterable<Partition>;
  findShard(value: ShardValue<D['primary']>): Promise<number>;
  /** Returns the table of a record's cells: `rates_0233.entity`. */
  findTable(uuid: string): Promise<string>;
  /** Returns `0233`, as in the names of databases. */
  paddedShard(shard: number): string;
}

/**
 * Defines a kind of records in a datastore. A record is a row whose row key derives from the values of its primary
 * index, with a cell `base`, and others with their own versions.
 *
 * ```ts
 * const rates = defineModel({
 *   name: 'rate',
 *   datastore: schemalessClient({ url, datastore: 'rates' }),
 *   cells: { meta: null },
 *   primary: { index: 'rate_primary', shardOn: { hotel_id: 'integer' }, fields: { room_type: 'string' } },
 * });
 * const rate = await rates.put({ hotel_id: 1, room_type: '1 bed', net_price: 120 });
 * await rate.update({ net_price: 130 });
 * ```
 */
export function defineModel<const D extends ModelDeclaration>(
  declaration: D & Complete<D> & WellDeclaredModel<D>,
): Model<D> {
  const { name, datastore, primary, indexes = {} }: ModelDeclaration = declaration;
  const model = cellsOf(declaration);
  const shards = shardsOf(datastore);
  const columns = new Map(model.modelColumns.map((column) => [column.name, column.column_name]));
  const namesOfColumns = new Map(model.modelColumns.map((column) => [column.column_name, column.name]));
  const allFields = fieldsOfAll([primary, ...Object.values(indexes)]);
  const primaryFields = fieldsOf(primary);
  const ofPrimary = modelIndex<D, D['primary']>(model, shards, primary);
  const ofNames = Object.fromEntries(
    Object.entries(indexes).map(([named, index]) => [named, modelIndex<D, IndexDeclaration>(model, shards, index)]),
  );
  const rowKey = (tuple: object): string => rowKeyOfTuple(name, primaryFields, { ...tuple });
  const open = async (uuid: string): Promise<ModelRecord<D>> =>
    modelRecord<D>(model, uuid, await readCells(model, uuid));
  const findRow = async (uuid: string): Promise<ModelRecord<D> | null> => {
    const record = await open(parseRowKey(uuid, 'uuid'));
    return Object.values(record.cells).some((cell) => (cell as { readonly present: boolean }).present) ? record : null;
  };

  return {
    name,
    columns,
    primary: ofPrimary,
    indexes: ofNames as unknown as NamedIndexes<D>,
    rowKey,
    async put(body) {
      for (const [field, type] of Object.entries(allFields)) valueOfField(field, type, { ...body });
      const record = await open(rowKey(body));
      return record.update(body, { rebase: true });
    },
    find: (tuple) => findRow(rowKey(tuple)),
    findRow,
    where: (conditions, options) => ofPrimary.where(conditions, options),
    fetchLatestCells: (location) => latestCells(datastore, namesOfColumns, location),
    maxIdOnShard: (shard) => shards.lastId(shard),
    eachShard: () => shards.all(),
    eachPartition: () => partitions(datastore, shards, [primary, ...Object.values(indexes)]),
    findShard: (value) => ofPrimary.findShard(value),
    async findTable(uuid) {
      return `${shardDatabase(datastore.name, shardOf(parseRowKey(uuid, 'uuid'), await shards.count()))}.entity`;
    },
    paddedShard,
  };
}

function cellsOf({ datastore, prefix = '', cells = {}, primary, indexes = {} }: ModelDeclaration): ModelCells {
  const { base = null, ...others } = cells;
  const kept = [primary, ...Object.values(indexes).filter(({ mutable }) => mutable !== true)];
  const modelColumns = [['base', base] as const, ...Object.entries(others)].map(([name, validator]) => ({
    name,
    column_name: `${prefix}${name}`,
    validator,
    readonlyFields: name === 'base' ? fieldsOfAll(kept) : {},
  }));
  return { datastore, modelColumns };
}

function fieldsOfAll(indexes: readonly IndexDeclaration[]): FieldTypes {
  return Object.assign({}, ...indexes.map(fieldsOf)) as FieldTypes;
}

async function* partitions(
  datastore: ModelDatastore,
  shards: Shards,
  indexes: readonly IndexDeclaration[],
): AsyncGenerator<Partition> {
  const [groups, ...statuses] = await Promise.all([
    shards.groups(),
    ...indexes.map(({ index }) => datastore.getIndex(index)),
  ]);
  const names = ['entity', ...statuses.map(({ table }) => table)];
  for (const [group, ofGroup] of groups) {
    const tables = ofGroup.flatMap((shard) => names.map((table) => `${shardDatabase(datastore.name, shard)}.${table}`));
    yield { group, shards: ofGroup, tables };
  }
}
