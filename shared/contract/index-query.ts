import type { Cell, Role, Served } from '../cell.ts';
import type { IndexField } from '../definitions/definitions.ts';
import type { FieldValue } from '../definitions/field-value.ts';
import type { SchemalessError } from '../errors.ts';
import type { Condition } from '../api/condition.ts';
import type { AnswerRoom } from './answer-room.ts';

export type { Condition, Operator } from '../api/condition.ts';
export type { FieldValue };

/** The keyed hash that an index has in the place of a sealed value, of the field's type. */
export type FieldHash = (field: IndexField, value: string) => string;

export interface IndexQuery {
  readonly index: string;
  /** Must hold one `eq` on the shard field. All have to be met; an absent field meets none, `ne` included. */
  readonly where: readonly Condition[];
  /** Fields to answer. @default all */
  readonly fields?: readonly string[] | undefined;
  /** Columns whose latest cells are brought along, `*` for all. */
  readonly columns?: readonly string[] | '*' | undefined;
  /** A field, `-field` for the highest first. @default the row key */
  readonly order?: string | undefined;
  /** 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
  /** `next` of the answer before. */
  readonly after?: string | undefined;
  readonly read?: Role | undefined;
  /**
   * May share a statement with others of the same index that are asked at the same time, if it reads no more entries
   * than it answers. That takes about half the work, of the servers and here; those that share one wait for each other.
   * Through HTTP those do that the client sends in one request. @default false
   */
  readonly together?: boolean | undefined;
  readonly room?: AnswerRoom | undefined;
  /** As that of other reads, of the cells that come along. */
  readonly packed?: boolean | undefined;
  /** Answer also which shard, group and statement it was, and its plan. Such a query shares its statement with none. */
  readonly explain?: boolean | undefined;
  /** Whoever has the keys gives it. @default nothing can be asked of sealed fields */
  readonly hashed?: FieldHash | undefined;
}

export interface IndexCount extends Pick<IndexQuery, 'index' | 'where' | 'read' | 'hashed'> {
  /** How far is counted, 1 to 10,000. @default 10,000 */
  readonly limit?: number | undefined;
}

export interface IndexCounted extends Served {
  /** Entries that meet all conditions, `limit` at most. */
  readonly count: number;
  /** False: there are more than `count`. */
  readonly complete: boolean;
}

export interface IndexEntry {
  readonly row_key: string;
  /** Null where the row has none, and of sealed fields, of which an index knows a hash alone. */
  readonly fields: Readonly<Record<string, FieldValue>>;
  /** Where columns were asked for: the latest cell of each that the row has, or why they could not be read. */
  readonly cells?: readonly Cell[] | { readonly error: SchemalessError };
}

export interface IndexAnswer extends Served {
  readonly entries: readonly IndexEntry[];
  /** Goes on after the last entry; null at the end. */
  readonly next: string | null;
  readonly explain?: Explanation;
}

export interface Explanation {
  readonly shard: number;
  readonly group: string;
  readonly statement: string;
  readonly plan: unknown;
}
