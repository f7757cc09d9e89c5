import type { Json } from '../cell.ts';
import type { DeclaredIndex, OtherFields } from '../client/declared-index.ts';
import type { Intersection, Only, WellDeclaredIndex } from '../client/well-declared.ts';
import type { InputOf, OutputOf, StandardSchema } from '../client/standard-schema.ts';
import type { SchemalessClient } from '../client/client.ts';
import type { FieldType } from '../definitions/definitions.ts';
import type { ValueByType } from '../definitions/field-value.ts';

/** The part of a client that models need. */
export type ModelDatastore = Pick<
  SchemalessClient,
  'name' | 'put' | 'transact' | 'getLatest' | 'versions' | 'row' | 'log' | 'heads' | 'query' | 'count' | 'getIndex'
>;

/** An index of the datastore, as its YAML defines it over the column of `base`. */
export interface IndexDeclaration extends DeclaredIndex {
  /** `table` of the YAML. */
  readonly index: string;
  /** Of a named index: its fields may change once a record is made; the entry follows. @default false */
  readonly mutable?: boolean;
}

export interface ModelDeclaration {
  /** Part of every row key: never change it. */
  readonly name: string;
  readonly datastore: ModelDatastore;
  /** A record's cells other than `base`, with their validators; null: any object. */
  readonly cells?: { readonly [cell: string]: StandardSchema<unknown, object> | null };
  /** Precedes the names of cells in column names, if models share a datastore: `rate.`. */
  readonly prefix?: string;
  /** Its fields give the row key: one record for each tuple of their values. */
  readonly primary: IndexDeclaration;
  /** Further indexes, by their names in the model. */
  readonly indexes?: { readonly [name: string]: IndexDeclaration };
}

export type ValuesOf<Fields> = { readonly [Field in keyof Fields]: ValueByType[Fields[Field] & FieldType] };

export type TupleOf<Index extends IndexDeclaration> = ValuesOf<Index['shardOn'] & OtherFields<Index>>;

/** A field to order by; with `-`, the highest first. */
export type Order<Index extends IndexDeclaration> =
  | (keyof OtherFields<Index> & string)
  | `-${keyof OtherFields<Index> & string}`;

export interface AnyBody {
  readonly [member: string]: Json;
}

type NamedFields<D extends ModelDeclaration> = D extends {
  readonly indexes: infer Named extends { readonly [name: string]: IndexDeclaration };
}
  ? Intersection<{ [Name in keyof Named]: TupleOf<Named[Name]> }[keyof Named]>
  : {};

export type IndexFields<D extends ModelDeclaration> = TupleOf<D['primary']> & NamedFields<D>;

/** The body of `base`: the output of its validator; without one, the index fields and anything else. */
export type BaseBody<D extends ModelDeclaration> = D extends {
  readonly cells: { readonly base: infer Validator extends StandardSchema };
}
  ? OutputOf<Validator>
  : IndexFields<D> & AnyBody;

/** The input of `base`: that of its validator, which may have fewer members than the output, as with defaults. */
export type BaseInput<D extends ModelDeclaration> = D extends {
  readonly cells: { readonly base: infer Validator extends StandardSchema };
}
  ? InputOf<Validator>
  : BaseBody<D>;

type BodyOf<Validator> = Validator extends StandardSchema ? OutputOf<Validator> : AnyBody;

export type CellBodies<D extends ModelDeclaration> = { readonly base: BaseBody<D> } & (D extends {
  readonly cells: infer Cells;
}
  ? { readonly [Cell in Exclude<keyof Cells, 'base'>]: BodyOf<Cells[Cell]> }
  : {});

/** Requires all index fields, with their types, in the validator of `base`. */
export type Complete<D extends ModelDeclaration> =
  BaseBody<D> extends IndexFields<D>
    ? unknown
    : { readonly cells: { readonly base: StandardSchema<unknown, IndexFields<D> & object> } };

/** Requires known members, and one shard field in each index. */
export type WellDeclaredModel<D extends ModelDeclaration> = Only<D, keyof ModelDeclaration> & {
  readonly primary: WellDeclaredIndex<D['primary'], keyof IndexDeclaration>;
  readonly indexes?: {
    readonly [Name in keyof NonNullable<D['indexes']>]: WellDeclaredIndex<
      NonNullable<D['indexes']>[Name],
      keyof IndexDeclaration
    >;
  };
};
