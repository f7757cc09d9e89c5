import type { Cell, Role, Served } from '../cell.ts';
import type { IndexField } from '../definitions/definitions.ts';
import type { FieldValue } from '../definitions/field-value.ts';
import type { SchemalessError } from '../errors.ts';
import type { Where } from '../where.ts';
import type { Explanation } from '../api/indexes.ts';
import type { AnswerRoom } from './answer-room.ts';

export type { Operator, Where } from '../where.ts';
export type { Explanation, IndexCounted } from '../api/indexes.ts';
export type { FieldValue };

/** The keyed hash that an index has instead of a sealed value, of the field's type. */
export type FieldHash = (field: IndexField, value: string) => string;

export interface Query {
  readonly index: string;
  /** Must contain one equality on the shard field. All must hold; an absent field meets none, `ne` included. */
  readonly where: Where;
  /** Fields to answer. @default all */
  readonly fields?: readonly string[] | undefined;
  /** Columns whose latest cells to return, `*` for all. */
  readonly columns?: readonly string[] | '*' | undefined;
  /** A field, `-field` for the highest first. @default the row key */
  readonly order?: string | undefined;
  /** 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
  /** `next` of the previous answer. */
  readonly after?: string | undefined;
  readonly read?: Role | undefined;
  /** Adds the shard, group, statement and plan to the answer. Such a query shares no statement. */
  readonly explain?: boolean | undefined;
}

/** The highest count of `limit`: 1 to 10,000. @default 10,000 */
export type CountQuery = Pick<Query, 'index' | 'where' | 'read' | 'limit'>;

/** A query with what a client over HTTP cannot give. */
export interface IndexQuery extends Query {
  /**
   * May share a statement with simultaneous queries of the same index, if it reads no more entries than it answers.
   * That halves the work, of the servers and here; queries that share a statement wait for each other. Over HTTP,
   * queries of one request share statements. @default false
   */
  readonly batched?: boolean | undefined;
  readonly room?: AnswerRoom | undefined;
  /** As in other reads, for the returned cells. */
  readonly packed?: boolean | undefined;
  /** The hash for conditions on sealed fields, for callers with the keys. @default such conditions fail */
  readonly hashed?: FieldHash | undefined;
}

export interface IndexCount extends Pick<IndexQuery, 'index' | 'where' | 'read' | 'hashed'> {
  /** The highest count, 1 to 10,000. @default 10,000 */
  readonly limit?: number | undefined;
}

export interface IndexEntry {
  readonly row_key: string;
  /** Null if the row has no value, and for sealed fields, of which an index has only a hash. */
  readonly fields: Readonly<Record<string, FieldValue>>;
  /** The latest cells of requested columns that the row has, or why they could not be read. */
  readonly cells?: readonly Cell[] | { readonly error: SchemalessError };
}

export interface IndexAnswer extends Served {
  readonly entries: readonly IndexEntry[];
  /** Continues after the last entry; null at the end. */
  readonly next: string | null;
  readonly explain?: Explanation;
}
