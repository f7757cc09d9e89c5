import type { SchemalessError } from './errors.ts';

/**
 * The words of the datastore, and the shapes every other file speaks in.
 *
 * - **cell**: one immutable JSON value at (row key, column name, ref key); the smallest thing stored.
 * - **row key**: a UUID; all cells of a row live in one shard.
 * - **column name**: 1 to 255 bytes of UTF-8, compared byte for byte; owned by the application.
 * - **ref key**: an integer from 0 to 2^53-1; the version of the cell, or its place in a list.
 *   The latest cell of a column is the one with the highest ref key.
 * - **added id**: 1, 2, 3, … within a shard, without holes, in commit order: the cell's place in the shard's log.
 * - **datastore**: a named instance ("trips") with a fixed number of shards.
 * - **shard**: one MySQL database of a datastore, `trips_0233`.
 * - **group**: one MySQL cluster, a writer and its readers, that holds many shards.
 * - **primary**, **secondary**: the group that owns a shard; a group that holds a buffered write for it.
 * - **location**: a place in a shard's log: an added id, or a time.
 * - **erasure**: what takes bodies away for good, and keeps them from coming back: a place in the log itself.
 *
 * Field names are those of the HTTP API, so that nothing is renamed on its way through.
 */

/** What JSON can say. Integers that a double cannot hold (up to 64 bits) are `bigint`. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [key: string]: Json };

/** Where a cell is. `row_key` is a lower-case UUID of 36 characters once parsed by `parseAddress`. */
export interface CellAddress {
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key: number;
}

/** A cell as a client writes it. */
export interface NewCell extends CellAddress {
  readonly body: Json;
}

/** A cell that was stored before, as an operator gives it back with its time. */
export interface RestoredCell extends NewCell {
  /** RFC 3339, to the microsecond. One that is yet to come counts as now. */
  readonly created_at: string;
}

export interface Cell extends NewCell {
  readonly added_id: number;
  readonly shard: number;
  /** When the primary appended it, or a restored cell's own time: RFC 3339, UTC, six decimals, never going back. */
  readonly created_at: string;
  /** True when the body was erased or its retention is over: `body` is null, the cell keeps its place in the log. */
  readonly erased?: true;
  /** Paths of sealed fields whose subject was forgotten: nobody can read them any more, and they are null in `body`. */
  readonly forgotten?: readonly string[];
  /** Of one that was erased: the SHA-256 of its body's JSON, in hexadecimal, for the digest of its log. */
  readonly body_sha256?: string;
  /** In logs: no cell but an erasure of its row and column up to its ref key; without column name, of the row. */
  readonly erasure?: ErasureNote;
  /** In lists and logs: why the stored body cannot be decoded. `body` is null; a read of this cell throws it. */
  readonly error?: SchemalessError;
}

export type ErasureScope = 'cell' | 'versions' | 'column' | 'row';

/** What an erasure says of itself in its log. */
export interface ErasureNote {
  readonly id: string;
  readonly scope: ErasureScope;
  readonly reason: string;
  /** Nobody asked for it: the cells were out of their retention. */
  readonly why?: 'retention';
}

/** The rule that a cell is out of, as it is shown. */
export interface ShownRetention {
  /** `*`: each column without a rule of its own. */
  readonly column: string;
  readonly keep_versions?: number;
  readonly keep_for_seconds?: number;
}

/** By which erasure a cell was erased, and when. */
export interface ErasedBy extends ErasureNote {
  readonly erased_at: string;
}

/** Which node of a group answered. */
export type Role = 'writer' | 'reader';

/** Who answered a read, and whether the answer may be behind what has been acknowledged. */
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
  /** A reader that has not yet seen this added id of the row's shard is passed over. */
  readonly min_added_id?: number | undefined;
}

/** A place in a shard's log: after an added id (0 is the start), or at a time (inclusive). */
export type Location =
  | { readonly shard: number; readonly after: number; readonly since?: undefined }
  | { readonly shard: number; readonly since: string; readonly after?: undefined };

/** Of which part of a shard's log a digest is wanted. */
export interface DigestRange {
  readonly shard: number;
  /** Up to which added id. @default the last one, when it is asked for */
  readonly at?: number | undefined;
  /** The place whose digest is known already: both, or none. @default the start */
  readonly after?: number | undefined;
  readonly digest?: string | undefined;
}

/**
 * How a write ended.
 *
 * - `stored`: on the primary, readable.
 * - `stored_before`: the same cell with an equal body was there already, as after any retry.
 * - `buffered`: kept on `copies` secondaries, not yet on the primary, so not readable yet. It will be appended.
 * - `conflict`: another body is at this address, in the cell `added_id` where that is known; nothing changed.
 * - `erased`: what was at this address, or would be, was erased for good; nothing changed.
 * - `subject_forgotten`: it names a subject that was forgotten, by the field `field`; nothing changed.
 * - `unavailable`: not confirmed; the cell may or may not be there. Repeat it.
 */
export type PutResult =
  | {
      readonly outcome: 'stored' | 'stored_before';
      readonly shard: number;
      readonly added_id: number;
      /** Of the existing cell: always with `stored_before`, with `stored` where it is known for free. */
      readonly created_at?: string;
    }
  | { readonly outcome: 'buffered'; readonly shard: number; readonly copies: number }
  | { readonly outcome: 'conflict'; readonly shard: number; readonly added_id?: number }
  | { readonly outcome: 'erased'; readonly shard: number }
  | { readonly outcome: 'subject_forgotten'; readonly shard: number; readonly field: string }
  | { readonly outcome: 'unavailable'; readonly shard: number; readonly reason: string };

/** The API's limits, as in the table of `infra/docs/api.md`. Sizes are bytes of UTF-8 JSON text. */
export const LIMITS = {
  bodyBytes: 1024 * 1024,
  /** Nesting of arrays and objects in a body; a value that is neither has depth 0. */
  bodyDepth: 100,
  /** Cells of one batch-put, keys of one batch-get. */
  batchCells: 100,
  batchReads: 32,
  /** One request's body. */
  requestBytes: 4 * 1024 * 1024,
  /** Cells, or locations, of one log read; the default of `limit` everywhere is `defaultLimit`. */
  logCells: 1000,
  listCells: 1000,
  defaultLimit: 100,
  /** Every list ends here at the latest and then carries `next`. */
  answerBytes: 4 * 1024 * 1024,
  columnNameBytes: 255,
  /** Entries of an index that one request counts. */
  countedEntries: 10_000,
  /** 2^53-1: the largest integer that JSON clients of every language keep. */
  refKey: Number.MAX_SAFE_INTEGER,
} as const;
