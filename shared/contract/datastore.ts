import type {
  Cell,
  CellAddress,
  CellKey,
  DigestRange,
  ErasedBy,
  Location,
  NewCell,
  PutResult,
  ReadCell,
  RestoredCell,
  Role,
  RowTransaction,
  Served,
  ShownRetention,
  TransactionResult,
} from '../cell.ts';
import type { SchemalessError } from '../errors.ts';
import type { ShardDigest } from '../api/logs.ts';
import type { AnswerRoom } from './answer-room.ts';
import type { IndexAnswer, IndexCount, IndexCounted, IndexQuery } from './index-query.ts';

export type { ShardDigest };

/**
 * The contract of a datastore. The in-memory reference store states it, the real store implements it, and one
 * conformance suite tests both, and the HTTP API. Types only.
 *
 * Every method first checks its arguments, before any read or write, and throws a `SchemalessError` that names an
 * invalid field. It accepts row keys in either case, and returns them in lower case.
 */
export interface Datastore {
  readonly name: string;
  readonly shards: number;

  /** Writes one cell. Outcomes are results, not exceptions; any put can be repeated safely. */
  put(cell: NewCell): Promise<PutResult>;

  /** Writes up to 100 cells, with independent outcomes in the same order; a malformed one fails the whole batch. */
  batchPut(cells: readonly NewCell[]): Promise<readonly PutResult[]>;

  /**
   * Writes up to 25 cells of one row together, if its conditions hold. No read of the row shows a part, and its cells are
   * consecutive in the log. Can be repeated safely: missing cells are written if those that exist are equal.
   */
  transact(transaction: RowTransaction): Promise<TransactionResult>;

  /**
   * As `batchPut`, for operators: stores each cell with its own time, or with that of its shard's last cell if that is
   * later. A future time counts as now; an existing cell keeps its time. Returns `unavailable`, never `buffered`: a
   * hint has no field for a time, and later cells of its shard could not have an earlier one.
   */
  batchRestore(cells: readonly RestoredCell[]): Promise<readonly PutResult[]>;

  /** Returns the cell at an address. Throws `unavailable` if no node answers, as every read does. */
  get(address: CellAddress, options?: StoreReadOptions): Promise<Found>;

  /** Returns the cell of a column with the highest ref key. */
  getLatest(
    key: { readonly row_key: string; readonly column_name: string },
    options?: StoreReadOptions,
  ): Promise<Found>;

  /** Returns the cells of one column beyond the ref key `after`, newest first (`desc`) by default. */
  versions(
    key: { readonly row_key: string; readonly column_name: string },
    options?: VersionsOptions & OwnOptions,
  ): Promise<Page<number>>;

  /** Returns the latest cell of each column, or of the given columns, of a row, in byte order of the names. */
  row(rowKey: string, options?: RowOptions & OwnOptions): Promise<Page<string>>;

  /** Returns up to 100 cells, or latest cells, in the order of the keys; null if there is none. */
  batchGet(
    keys: readonly CellKey[],
    options?: Pick<StoreReadOptions, 'read' | 'packed' | 'sealed'>,
  ): Promise<readonly BatchItem[]>;

  /**
   * Reads the logs of up to 1000 shards, `limit` cells of each at most, in added-id order. Stops at a hole: a cell
   * that is committed but not visible yet. A reader that continues from `next` never skips a cell.
   *
   * The shards share one answer fairly: a cell of each, then the next of each, until it is full. Only `more` says
   * whether a log continues: it may be true without any cell, at a hole or if the answer had no room.
   */
  log(locations: readonly Location[], options?: LogOptions & Pick<OwnOptions, 'packed'>): Promise<readonly ShardLog[]>;

  /** Returns every shard with its group and the added id of its last cell (0 if empty). */
  heads(options?: Pick<ReadOptions, 'read'>): Promise<readonly ShardHead[]>;

  /**
   * Returns the digest of a shard's log up to an added id: one value to compare logs by, which `nextDigest` defines.
   * Reads every cell from the start, or from an added id with a known digest, for some seconds at most. While `more` is
   * true, call it again with the returned added id and digest.
   *
   * Throws `undecodable_body` at a cell whose body is damaged or erased.
   */
  digest(range: DigestRange, options?: Pick<ReadOptions, 'read'>): Promise<ShardDigest>;

  /** Finds rows by fields of their latest cells, in one shard. Throws `unknown_index`, `index_building`, bad input. */
  query(query: IndexQuery): Promise<IndexAnswer>;

  /** Counts the rows that `query` would find, up to a limit. Reads and throws as a query does. */
  count(query: IndexCount): Promise<IndexCounted>;
}

export interface ReadOptions {
  /** @default 'writer', which reads the caller's own writes */
  readonly read?: Role | undefined;
  /** Skips a reader that has not seen this added id of the row's shard. */
  readonly min_added_id?: number | undefined;
  /** Returns sealed fields as stored. @default false: opens them */
  readonly sealed?: boolean | undefined;
}

/** The options that a client over HTTP cannot give. */
interface OwnOptions {
  /** Room left in a shared answer; a read that would be cut throws `answer_too_large`. @default an own answer */
  readonly room?: AnswerRoom | undefined;
  /** May return a `PackedBody` where a body need not be read. A datastore may decode it anyway. @default false */
  readonly packed?: boolean | undefined;
}

export interface StoreReadOptions extends ReadOptions, OwnOptions {}

export interface VersionsOptions extends ReadOptions {
  /** 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
  /** @default 'desc', the newest first */
  readonly order?: 'asc' | 'desc' | undefined;
  readonly after?: number | undefined;
}

export interface RowOptions extends ReadOptions {
  readonly columns?: readonly string[] | undefined;
  /** Only columns whose names come after this one. */
  readonly after?: string | undefined;
}

export interface LogOptions extends Pick<ReadOptions, 'read' | 'sealed'> {
  /** Cells per shard, 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
}

export interface Found extends Served {
  readonly cell: Cell | null;
  /** Of an erased cell: its erasure, if that can still be read. */
  readonly erasure?: ErasedBy;
  /** A retention rule applies: erased if there is an `erasure`, otherwise only hidden yet. */
  readonly why?: 'retention';
  readonly rule?: ShownRetention;
}

/** Cells, and `next` to continue after; null at the end. */
export interface Page<Next> extends Served {
  readonly cells: readonly Cell[];
  readonly next: Next | null;
}

/** A cell, null, or the error of this item alone. */
export type BatchItem = ReadCell | null | { readonly error: SchemalessError };

export type ShardLog =
  | ({
      readonly shard: number;
      readonly cells: readonly Cell[];
      /** The last added id read; with none read, that of the location. */
      readonly next: number;
      /** More cells follow `next`. False only where the answering node shows the log's end. */
      readonly more: boolean;
      readonly error?: undefined;
    } & Served)
  | { readonly shard: number; readonly error: SchemalessError };

export type ShardHead =
  | { readonly shard: number; readonly group: string; readonly head: number; readonly error?: undefined }
  | { readonly shard: number; readonly group: string; readonly error: SchemalessError };
