import type { FieldType } from '../definitions/definitions.ts';
import type { ValueByType } from '../definitions/field-value.ts';

export type FieldTypes = Readonly<Record<string, FieldType>>;

/** An index as a program declares it. The shard field stands apart: types do not know which field is the first. */
export interface DeclaredIndex {
  /** The shard field, one: the first of the YAML. Every search gives its value, which decides which shard answers. */
  readonly shardOn: FieldTypes;
  readonly fields?: FieldTypes;
}

export type OtherFields<Index extends DeclaredIndex> = Index extends { readonly fields: infer Fields } ? Fields : {};

/** A value, which the field equals; or what it is compared with. */
export type FieldCondition<Value> =
  | Value
  | {
      readonly eq?: Value;
      readonly ne?: Value;
      readonly lt?: Value;
      readonly lte?: Value;
      readonly gt?: Value;
      readonly gte?: Value;
      /** 1 to 100. */
      readonly in?: readonly Value[];
    };

/** All that a shard field may be asked for: that it equals a value. Entries under other values are in other shards. */
export interface ShardFieldEquals<Value> {
  readonly eq: Value;
}

/** Errors of the compiler name it. */
type ShardField<Fields> = {
  readonly [Field in keyof Fields]:
    | ValueByType[Fields[Field] & FieldType]
    | ShardFieldEquals<ValueByType[Fields[Field] & FieldType]>;
};

type Conditions<Fields> = {
  readonly [Field in keyof Fields]?: FieldCondition<ValueByType[Fields[Field] & FieldType]>;
};

/** Conditions on an index, all of which must hold: the shard field by equality, the others by any operator. */
export type Where<Index extends DeclaredIndex> = string extends keyof Index['shardOn']
  ? Conditions<Index['shardOn']>
  : ShardField<Index['shardOn']> & Conditions<OtherFields<Index>>;
