import { toConditions } from '../client/conditions.ts';
import type { FieldTypes, Where } from '../client/declared-index.ts';
import { shardOfValue } from '../definitions/field-value.ts';
import { invalidField } from '../errors.ts';
import { shardDatabase } from '../address.ts';
import type { IndexDeclaration, ModelDeclaration, Order, ValuesOf } from './declaration.ts';
import { foundRecords, type FindOptions, type FoundRecords } from './found-records.ts';
import type { ModelCells } from './model-record.ts';
import { valueOfField } from './row-key.ts';
import type { Shards } from './model-shards.ts';

export interface ModelIndex<D extends ModelDeclaration, Index extends IndexDeclaration> {
  readonly index: string;
  /** The records that meet all conditions. An absent field meets none, `ne` included. */
  where(conditions: Where<Index>, options?: FindOptions<Order<Index>>): FoundRecords<D>;
  /** The shard that holds the entries under a value of the shard field. */
  findShard(value: ShardValue<Index>): Promise<number>;
  /** The table that holds them: `rates_0196.rate_primary_1a2b3c4d`. */
  findTable(value: ShardValue<Index>): Promise<string>;
}

export type ShardValue<Index extends IndexDeclaration> = ValuesOf<Index['shardOn']>[keyof Index['shardOn']];

/** The fields of an index, the shard field first. Throws where there is not one shard field. */
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
      foundRecords<D>(model, { index, where: toConditions(conditions as Readonly<Record<string, unknown>>), options }),
    findShard,
    async findTable(value) {
      const [shard, { table }] = await Promise.all([findShard(value), model.datastore.getIndex(index)]);
      return `${shardDatabase(model.datastore.name, shard)}.${table}`;
    },
  };
}
