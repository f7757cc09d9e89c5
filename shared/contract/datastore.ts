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
  Served,
  ShownRetention,
} from '../cell.ts';
import type { SchemalessError } from '../errors.ts';
import type { AnswerRoom } from './answer-room.ts';
import type { IndexAnswer, IndexCount, IndexCounted, IndexQuery } from './index-query.ts';

/**
 * The contract of a datastore. The in-memory reference store states it, the real store keeps it, and one conformance
 * suite runs against both, and through HTTP. Types only.
 *
 * Every method checks its arguments first and throws a `SchemalessError` that names the field at fault; nothing has
 * been written or read by then. Row keys are accepted in either case and answered in lower case.
 */
export interface Datastore {
  readonly name: string;
  readonly shards: number;

  /** Writes one cell. Outcomes are results, not exceptions; repeating any put is safe. */
  put(cell: NewCell): Promise<PutResult>;

  /** Writes up to 100 cells, outcomes in the same order and independent; a malformed one refuses the whole batch. */
  batchPut(cells: readonly NewCell[]): Promise<readonly PutResult[]>;

  /**
   * As `batchPut`, for operators: each cell is stored with its own time, or with that of its shard's last cell, where
   * that is later; never with one that is yet to come. A cell that is there already keeps its time. Never `buffered`: a
   * copy has no room for a time, and what came behind it in its shard could not be earlier; `unavailable` in its place.
   */
  batchRestore(cells: readonly RestoredCell[]): Promise<readonly PutResult[]>;

  /** The cell at an address. Throws `unavailable` when no node could answer, as every read does. */
  get(address: CellAddress, options?: ReadOptions): Promise<Found>;

  /** The cell of a column with the highest ref key. */
  getLatest(key: { readonly row_key: string; readonly column_name: string }, options?: ReadOptions): Promise<Found>;

  /** The cells of one column, newest first (`desc`) unless told otherwise, beyond the ref key `after`. */
  versions(
    key: { readonly row_key: string; readonly column_name: string },
    options?: VersionsOptions,
  ): Promise<Page<number>>;

  /** The latest cell of each column of a row, in byte order of the names; of the columns given, or of all. */
  row(rowKey: string, options?: RowOptions): Promise<Page<string>>;

  /** Up to 100 cells, or latest cells, in the order asked for; null where there is none. */
  batchGet(
    keys: readonly CellKey[],
    options?: Pick<ReadOptions, 'read' | 'packed' | 'sealed'>,
  ): Promise<readonly BatchItem[]>;

  /**
   * Reads the logs of up to 1000 shards, `limit` cells of each at most, in added-id order. Stops at a hole: a cell
   * that is committed but not visible yet. A reader that goes on from `next` never skips a cell.
   *
   * The shards share one answer fairly: a cell of each, then the next of each, until it is full. What came of a shard
   * says nothing of whether it goes on, only `more` does: true without any cell, too, where there was no room or at a
   * hole.
   */
  log(locations: readonly Location[], options?: LogOptions): Promise<readonly ShardLog[]>;

  /** Every shard with its group and the added id of its last cell (0 when empty). */
  heads(options?: Pick<ReadOptions, 'read'>): Promise<readonly ShardHead[]>;

  /**
   * The digest of a shard's log up to a place: one value by which logs are compared. Reads every cell up to there, from
   * the start or from a place whose digest is known, for some seconds at most; to be called again from where it came,
   * with the digest of that place, as long as `more` says so. `nextDigest` says what it is.
   *
   * Throws `undecodable_body` at a cell whose body is damaged or erased.
   */
  digest(range: DigestRange, options?: Pick<ReadOptions, 'read'>): Promise<ShardDigest>;

  /** Finds rows by fields of their latest cells, in one shard. Throws `unknown_index`, `index_building`, bad input. */
  query(query: IndexQuery): Promise<IndexAnswer>;

  /** How many rows `query` would find, as far as a limit. Reads as a query does, and throws the same. */
  count(query: IndexCount): Promise<IndexCounted>;
}

export interface ReadOptions {
  /** @default 'writer', which reads one's own writes */
  readonly read?: Role | undefined;
  /** A reader that has not seen this added id of the row's shard is passed over. */
  readonly min_added_id?: number | undefined;
  /** Room left in a shared answer; a read that would be cut throws `answer_too_large`. @default an own answer */
  readonly room?: AnswerRoom | undefined;
  /** May return a `PackedBody` where a body need not be read. A datastore may decode it anyway. @default false */
  readonly packed?: boolean | undefined;
  /** What is sealed stays so, in the bodies of the answer. @default false: it is opened */
  readonly sealed?: boolean | undefined;
}

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

export interface LogOptions extends Pick<ReadOptions, 'read' | 'packed' | 'sealed'> {
  /** Cells per shard, 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
}

export interface Found extends Served {
  readonly cell: Cell | null;
  /** Of a cell that was erased: by which erasure, as far as that can still be read. */
  readonly erasure?: ErasedBy;
  /** It is out of its retention; erased, where there is an `erasure`, and else only hidden yet. */
  readonly why?: 'retention';
  readonly rule?: ShownRetention;
}

/** Cells, and where to go on (`after`), or null at the end. */
export interface Page<Next> extends Served {
  readonly cells: readonly Cell[];
  readonly next: Next | null;
}

/** A cell, null, or why this item alone could not be answered. */
export type BatchItem = ReadCell | null | { readonly error: SchemalessError };

export type ShardLog =
  | ({
      readonly shard: number;
      readonly cells: readonly Cell[];
      /** The last added id read; with none read, what the location stands for. */
      readonly next: number;
      /** More cells follow `next`. False only where the answering node shows the log's end. */
      readonly more: boolean;
      readonly error?: undefined;
    } & Served)
  | { readonly shard: number; readonly error: SchemalessError };

export type ShardHead =
  | { readonly shard: number; readonly group: string; readonly head: number; readonly error?: undefined }
  | { readonly shard: number; readonly group: string; readonly error: SchemalessError };

export interface ShardDigest extends Served {
  readonly shard: number;
  /** The place that it is of: as far as this answer came. */
  readonly at: number;
  /** SHA-256, in hexadecimal. */
  readonly digest: string;
  /** The place asked for lies beyond: the time was short, or the answering node is behind. */
  readonly more: boolean;
}
