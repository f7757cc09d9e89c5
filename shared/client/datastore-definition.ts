import type { Cell, ErasureScope } from '../cell.ts';
import type { FieldValue, IndexEntry, Query } from '../contract/index-query.ts';
import type { ValueByType } from '../definitions/field-value.ts';
import type { DeclaredIndex, OtherFields, WhereOf } from './declared-index.ts';
import type { Intersection, Only, WellDeclaredIndex } from './well-declared.ts';
import type { InputOf, OutputOf, StandardSchema } from './standard-schema.ts';

/** A datastore as a program declares it; the deployment's YAML declares the same indexes and triggers. */
export interface DatastoreDefinition {
  readonly name: string;
  /** The validator of each column's bodies. */
  readonly columns: { readonly [column: string]: StandardSchema };
  readonly indexes?: { readonly [index: string]: DeclaredIndex };
  readonly triggers?: { readonly [trigger: string]: { readonly columns: readonly string[] | '*' } };
}

/**
 * Declares a datastore, for `openDatastore`, and for the types of its cells, queries and messages.
 *
 * ```ts
 * const trips = defineDatastore({
 *   name: 'trips',
 *   columns: { BASE: z.object({ driver_partner_uuid: z.uuid(), fare: z.number() }) },
 *   indexes: { driver_partner_index: { shardOn: { driver_partner_uuid: 'UUID' } } },
 *   triggers: { bill_rider: { columns: ['BASE'] } },
 * });
 * ```
 */
export function defineDatastore<const Definition extends DatastoreDefinition>(
  definition: Definition & WellDefined<Definition>,
): Definition {
  return definition;
}

/** Rejects, at compile time, triggers of undeclared columns and misspelt members. */
type WellDefined<D extends DatastoreDefinition> = Only<D, keyof DatastoreDefinition> & {
  readonly indexes?: { readonly [Index in IndexOf<D>]: WellDeclaredIndex<IndexNamed<D, Index>> };
  readonly triggers?: {
    readonly [Trigger in TriggerOf<D>]: { readonly columns: readonly ColumnOf<D>[] | '*' } & Only<
      NonNullable<D['triggers']>[Trigger],
      'columns'
    >;
  };
};

export interface KeyOf<Column> {
  readonly row_key: string;
  readonly column_name: Column;
}

export type ColumnOf<D extends DatastoreDefinition> = keyof D['columns'] & string;
export type IndexOf<D extends DatastoreDefinition> = keyof NonNullable<D['indexes']> & string;
export type TriggerOf<D extends DatastoreDefinition> = keyof NonNullable<D['triggers']> & string;

export type BodyInput<D extends DatastoreDefinition, Column extends ColumnOf<D>> = InputOf<D['columns'][Column]>;
type BodyOf<D extends DatastoreDefinition, Column extends ColumnOf<D>> = OutputOf<D['columns'][Column]>;

/** A cell to write, with the body of its column. Without a ref key it takes the next one. */
export type NewCellOf<D extends DatastoreDefinition, Column extends ColumnOf<D> = ColumnOf<D>> = {
  [Name in Column]: KeyOf<Name> & { readonly ref_key?: number; readonly body: BodyInput<D, Name> };
}[Column];

/**
 * A cell of one of these columns, which `column_name` names. Its body has this type, or is null: if the cell is
 * `erased`, has an `error` since it cannot be decoded, or, in `tail`, is an `erasure`.
 */
export type CellOf<D extends DatastoreDefinition, Column extends ColumnOf<D> = ColumnOf<D>> = {
  [Name in Column]: Omit<Cell, 'column_name' | 'body'> & { readonly column_name: Name; readonly body: BodyOf<D, Name> };
}[Column];

/** The message of a trigger, as `triggerHandler(trips, 'bill_rider', …)` gives it to the function. */
export type MessageOf<D extends DatastoreDefinition, Trigger extends TriggerOf<D>> = {
  readonly datastore: D['name'];
  readonly trigger: Trigger;
  readonly column_name: NonNullable<D['triggers']>[Trigger]['columns'] extends readonly (infer Column)[]
    ? Column & string
    : string;
  readonly row_key: string;
  readonly ref_key: number;
  readonly shard: number;
  readonly added_id: number;
  readonly created_at: string;
  readonly replay: boolean;
  readonly generation: number;
  /** The scope of an erasure, which has no cell to read. */
  readonly erasure?: ErasureScope;
};

type IndexNamed<D extends DatastoreDefinition, Index extends IndexOf<D>> = NonNullable<D['indexes']>[Index];
type FieldsOf<D extends DatastoreDefinition, Index extends IndexOf<D>> = IndexNamed<D, Index>['shardOn'] &
  OtherFields<IndexNamed<D, Index>>;
export type FieldOf<D extends DatastoreDefinition, Index extends IndexOf<D>> = keyof FieldsOf<D, Index> & string;
type ValueOf<Type> = Type extends keyof ValueByType ? ValueByType[Type] : FieldValue;

export interface QueryOf<
  D extends DatastoreDefinition,
  Index extends IndexOf<D>,
  Field extends FieldOf<D, Index> = FieldOf<D, Index>,
  Column extends ColumnOf<D> = ColumnOf<D>,
> extends Pick<Query, 'limit' | 'after' | 'read'> {
  /** The conditions of the index; with several, those that all of them accept. */
  readonly where: Intersection<Index extends unknown ? WhereOf<IndexNamed<D, Index>> : never>;
  readonly fields?: readonly Field[];
  readonly columns?: readonly Column[];
  /** A field, `-field` for the highest first. @default the row key */
  readonly order?: FieldOf<D, Index> | `-${FieldOf<D, Index>}`;
}

export interface EntryOf<
  D extends DatastoreDefinition,
  Index extends IndexOf<D>,
  Field extends FieldOf<D, Index>,
  Column extends ColumnOf<D>,
> {
  readonly row_key: string;
  readonly fields: { readonly [Name in Field]: ValueOf<FieldsOf<D, Index>[Name]> | null };
  /** The latest cells of requested columns that the row has, or why they could not be read. */
  readonly cells?: readonly CellOf<D, Column>[] | Extract<IndexEntry['cells'], { readonly error: unknown }>;
}
