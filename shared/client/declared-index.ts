import type { FieldType } from '../definitions/definitions.ts';
import type { FieldCondition } from '../where.ts';
import type { ValueByType } from '../definitions/field-value.ts';

export type FieldTypes = Readonly<Record<string, FieldType>>;

/** An index as a program declares it. The shard field is separate, since types cannot tell the first field. */
export interface DeclaredIndex {
  /** The one shard field: the first of the YAML. Every search gives its value, which selects the shard. */
  readonly shardOn: FieldTypes;
  readonly fields?: FieldTypes;
}

export type OtherFields<Index extends DeclaredIndex> = Index extends { readonly fields: infer Fields } ? Fields : {};

/** The value of a condition, by the type of its field. */
type AskedByType = Omit<ValueByType, 'datetime'> & { readonly datetime: string | Date };

/** The only condition on a shard field: equality. Entries under other values are in other shards. */
export interface ShardFieldEquals<Value> {
  readonly eq: Value;
}

/** A type whose name appears in compiler errors. */
type ShardField<Fields> = {
  readonly [Field in keyof Fields]:
    | AskedByType[Fields[Field] & FieldType]
    | ShardFieldEquals<AskedByType[Fields[Field] & FieldType]>;
};

type Conditions<Fields> = {
  readonly [Field in keyof Fields]?: FieldCondition<AskedByType[Fields[Field] & FieldType]>;
};

/** Conditions on an index, all of which must hold: the shard field by equality, the others by any operator. */
export type WhereOf<Index extends DeclaredIndex> = string extends keyof Index['shardOn']
  ? Conditions<Index['shardOn']>
  : ShardField<Index['shardOn']> & Conditions<OtherFields<Index>>;
