import type { SchemalessError } from './errors.ts';

/**
 * The terms and basic types of the datastore. `infra/docs/architecture.md` has the full glossary.
 *
 * - **cell**: an immutable JSON value at (row key, column name, ref key).
 * - **row key**: a UUID; a row's cells are in one shard.
 * - **column name**: 1 to 255 bytes of UTF-8, compared byte by byte.
 * - **ref key**: a cell's version, 0 to 2^53-1. The latest cell of a column has the highest.
 * - **datastore**: a named set of shards, indexes and triggers.
 * - **shard**: one of a datastore's MySQL databases, `trips_0233`.
 * - **log**, **added id**: a shard's cells in commit order; a cell's number there: 1, 2, 3, … without holes.
 * - **location**: where a read of a log starts: after an added id, or at a time.
 * - **group**: a MySQL cluster of a writer and readers; it has many shards.
 * - **primary**, **secondary**: the group that owns a shard; a group with hints for it.
 * - **epoch**: the incarnation of a shard; it rises when the shard moves or its log was cut.
 * - **hint**, **hint holder**: a copy of a write, put on a secondary before the append; that secondary.
 * - **drain**: the function that appends missing cells from hints and deletes confirmed hints.
 * - **index**, **entry**: a table of fields of rows' latest cells; one row's record in it.
 * - **trigger**, **tailer**, **consumer**: a subscription of a function to cells; what queues them; what calls it.
 * - **parked cell**: a cell that failed too often in its function; later cells continue.
 * - **erasure**: the permanent removal of bodies, recorded in the log.
 *
 * Field names are those of the HTTP API.
 */

/** A JSON value. Integers that a double cannot hold (up to 64 bits) are `bigint`. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json };

/** Returns whether a value is a JSON object: neither null nor a list. */
export function isObject(value: unknown): value is { readonly [member: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The address of a cell. `parseAddress` makes `row_key` a lower-case UUID of 36 characters. */
export interface CellAddress {
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key: number;
}

/** A cell as a client writes it. */
export interface NewCell extends CellAddress {
  readonly body: Json;
}

/** The place of a cell among those that one transaction appended: they are consecutive in their log. */
export interface TransactionPlace {
  readonly size: number;
  /** 0 for the first. */
  readonly position: number;
}

/** A cell of a transaction. With a time, which all cells have or none, it is restored as `RestoredCell`. */
export type CellOfRow = Omit<NewCell, 'row_key'> & Partial<Pick<RestoredCell, 'created_at'>>;

/** Cells of one row to write all or none. */
export interface RowTransaction {
  readonly row_key: string;
  /** 1 to 25, of different addresses; 1 MiB of JSON in all. */
  readonly cells: readonly CellOfRow[];
  /** Writes only if all of these hold. */
  readonly if?: readonly LatestCondition[] | undefined;
}

/** Requires the highest ref key of a column, erased cells included; null: the column has no cell. */
export interface LatestCondition {
  readonly column_name: string;
  readonly latest: number | null;
}

/** A cell that was stored before, which an operator restores with its time. */
export interface RestoredCell extends NewCell {
  /** RFC 3339, to the microsecond. A future time counts as now. */
  readonly created_at: string;
}

export interface Cell extends NewCell {
  readonly added_id: number;
  readonly shard: number;
  /** When the primary appended it, or a restored cell's own time: RFC 3339, UTC, six decimals, never going back. */
  readonly created_at: string;
  /** True when the body was erased or its retention is over: `body` is null, the cell keeps its place in the log. */
  readonly erased?: true;
  /** Its place in the transaction that wrote it, unless it was erased. Absent for a cell written alone. */
  readonly transaction?: TransactionPlace;
  /** Paths of sealed fields whose subject was forgotten: they are unreadable, and null in `body`. */
  readonly forgotten?: readonly string[];
  /** For an erased cell: the SHA-256 of its body's JSON, in hexadecimal, for the digest of its log. */
  readonly body_sha256?: string;
  /** In logs: an erasure of its row and column up to its ref key; with an empty column name, of the row. */
  readonly erasure?: ErasureNote;
  /** In lists and logs: why the stored body cannot be decoded. `body` is null; a read of this cell throws it. */
  readonly error?: SchemalessError;
}

export type ErasureScope = 'cell' | 'versions' | 'column' | 'row';

/** The description of an erasure in its log. */
export interface ErasureNote {
  readonly id: string;
  readonly scope: ErasureScope;
  readonly reason: string;
  /** A retention rule, not a request, erased the cells. */
  readonly why?: 'retention';
}

/** The retention rule that applies to a cell, as answers show it. */
export interface ShownRetention {
  /** `*`: each column without its own rule. */
  readonly column: string;
  readonly keep_versions?: number;
  readonly keep_for_seconds?: number;
}

/** The erasure that erased a cell, and its time. */
export interface ErasedBy extends ErasureNote {
  readonly erased_at: string;
}

/** The node of a group that answered. */
export type Role = 'writer' | 'reader';

/** The node that answered a read, and whether the answer may be behind the acknowledged writes. */
export interface Served {
  readonly served_by: Role;
  readonly stale: boolean;
}

export type ReadCell = Cell & Served;

/** The key of a cell, or of the latest cell of a column when `ref_key` is left out. */
export interface CellKey {
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key?: number | undefined;
  /** Skips a reader that has not yet seen this added id of the row's shard. */
  readonly min_added_id?: number | undefined;
}

/** A location in a shard's log: after an added id (0 is the start), or at a time (inclusive). */
export type Location =
  | { readonly shard: number; readonly after: number; readonly since?: undefined }
  | { readonly shard: number; readonly since: string; readonly after?: undefined };

/** The part of a shard's log to digest. */
export interface DigestRange {
  readonly shard: number;
  /** The last added id to digest. @default the last one at the time of the request */
  readonly at?: number | undefined;
  /** The added id whose digest is known: both or neither. @default the start */
  readonly after?: number | undefined;
  readonly digest?: string | undefined;
}

/**
 * How a write ended.
 *
 * - `stored`: on the primary, readable.
 * - `stored_before`: the cell already exists with an equal body, as after any retry.
 * - `buffered`: kept on `copies` secondaries, not yet on the primary, so not readable yet. It will be appended.
 * - `conflict`: another body is at this address, in the cell `added_id` if that is known; nothing changed.
 * - `erased`: an erasure covers this address for good; nothing changed.
 * - `subject_forgotten`: the field `field` names a forgotten subject; nothing changed.
 * - `unavailable`: not confirmed; the cell may or may not be there. Repeat it.
 */
export type PutResult =
  | {
      readonly outcome: 'stored' | 'stored_before';
      readonly shard: number;
      readonly added_id: number;
      /** Of the existing cell: always with `stored_before`, with `stored` if it is known for free. */
      readonly created_at?: string;
    }
  | { readonly outcome: 'buffered'; readonly shard: number; readonly copies: number }
  | { readonly outcome: 'conflict'; readonly shard: number; readonly added_id?: number }
  | { readonly outcome: 'erased'; readonly shard: number }
  | { readonly outcome: 'subject_forgotten'; readonly shard: number; readonly field: string }
  | { readonly outcome: 'unavailable'; readonly shard: number; readonly reason: string };

/**
 * How a transaction ended, as a whole.
 *
 * - `stored`: all cells are there; those that were missing were appended together.
 * - `stored_before`: all cells were there, with equal bodies. Any repeat ends so.
 * - `conflict`, `erased`: the addresses in `cells` hold another body, or were erased; nothing changed.
 * - `condition_failed`: the conditions in `failed` were not met; nothing changed.
 * - the others as for a cell; a transaction with conditions is never `buffered`.
 */
export type TransactionResult =
  | {
      readonly outcome: 'stored' | 'stored_before';
      readonly shard: number;
      /** Of the cells, in their order. */
      readonly added_ids: readonly number[];
    }
  | Exclude<PutResult, { outcome: 'stored' | 'stored_before' | 'conflict' | 'erased' }>
  | {
      readonly outcome: 'conflict' | 'erased';
      readonly shard: number;
      readonly cells: readonly Omit<CellAddress, 'row_key'>[];
    }
  | { readonly outcome: 'condition_failed'; readonly shard: number; readonly failed: readonly FailedCondition[] };

export interface FailedCondition {
  readonly column_name: string;
  readonly wanted: number | null;
  /** Null: the column has no cell. */
  readonly latest: Cell | null;
}

/** The API's limits, as in the table of `infra/docs/api.md`. Sizes are bytes of UTF-8 JSON text. */
export const LIMITS = {
  bodyBytes: 1024 * 1024,
  /** Nesting of arrays and objects in a body; a value that is neither has depth 0. */
  bodyDepth: 100,
  /** Cells of one batch-put, keys of one batch-get. */
  batchCells: 100,
  batchReads: 32,
  /** Cells, and conditions, of one transaction; its bodies together take `bodyBytes`. */
  transactionCells: 25,
  /** One request's body. */
  requestBytes: 4 * 1024 * 1024,
  /** Cells, or locations, of one log read; the default of `limit` everywhere is `defaultLimit`. */
  logCells: 1000,
  listCells: 1000,
  defaultLimit: 100,
  /** Every list ends here at the latest, and then has `next`. */
  answerBytes: 4 * 1024 * 1024,
  columnNameBytes: 255,
  /** Entries of an index that one request counts. */
  countedEntries: 10_000,
  /** 2^53-1: the largest integer that JSON clients of every language keep. */
  refKey: Number.MAX_SAFE_INTEGER,
} as const;
