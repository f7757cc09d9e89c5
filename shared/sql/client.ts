import type { BufferedCell, EncodedCell } from './encoded-cell.ts';

/** The port to one group's MySQL: text with `?` for each bound value, autocommitted, so nothing is held. */

/** Adapters refuse numbers that are neither safe integers nor finite doubles. */
export type SqlParameter = string | number | bigint | Uint8Array | null;

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
  readonly parts?: readonly Statement[];
  /** The shard's table that it may wait for, or `SEVERAL_TABLES`. Absent for the control database. */
  readonly table?: string;
  /** It may share a commit with others: it is small, waits briefly, and may be repeated. */
  readonly mayShareCommit?: true;
  /** Its sender expects a `duplicate`, so the statements committed with it are done without it. */
  readonly mayBeThere?: true;
  /** Runs on a connection of its own: neither a dead socket nor a full pool delays it. */
  readonly isolated?: true;
  /** The time limit of an `isolated` statement, in ms. Past it, a statement on the Data API goes on, and ends as `unclear`. */
  readonly withinMs?: number;
  /** Asked before it is sent: `unreachable` if it is false by then. @default it is wanted */
  readonly isWanted?: (() => boolean) | undefined;
  /** Reads from the writer after the commit, in the same round trip if possible; may be skipped. */
  readonly readAfter?: readonly ReadAfterCommit[];
  /** A shard whose followers are notified once the change is committed. */
  readonly moves?: Moved;
  readonly log?: AppendedLog;
  /** Hints that one statement can insert with those of others. */
  readonly hints?: { readonly datastore: string; readonly cells: readonly BufferedCell[] };
}

export interface ReadAfterCommit {
  /** How many SELECTs it is made of. */
  readonly branches: number;
  /** Returns SELECTs for a union, whose rows begin with a number. */
  from(item: number): Statement;
}

/** A log that a statement appends to. */
export interface AppendedLog {
  readonly datastore: string;
  readonly shard: number;
  readonly epoch: number;
  /** Cells that can be numbered, with those of others. Absent if something has to be looked up. */
  readonly cells?: readonly EncodedCell[];
  /** Appends its cells all or none; never joined with others in one statement. */
  readonly isWhole?: true;
}

export interface Moved {
  readonly datastore: string;
  readonly shard: number;
}

export type SqlValue = string | number | Uint8Array | null;

export type SqlRow = readonly SqlValue[];

export interface SqlChange {
  readonly affectedRows: number;
  readonly insertId: number;
  /** The rows of each `readAfter` from a snapshot after the commit; absent if not read. */
  readonly rows?: readonly (readonly SqlRow[])[];
  readonly hasNotified?: true;
  /** It appended so many cells, also those of others; its sender's begin at a position among them. */
  readonly among?: { readonly cells: number; readonly at: number };
}

export type Target = 'writer' | 'reader' | { readonly node: number };

interface SqlAbilities {
  readonly readsFromReaders: boolean;
  /** An acknowledged write outlives the writer's disk, since each reader can be asked for it. */
  readonly survivesDiskLoss: boolean;
  readonly hasNotifications?: boolean;
  readonly sharesCommits?: boolean;
  readonly bounds: SqlBounds;
}

/** The size limits of one statement, in bytes. */
export interface SqlBounds {
  /** One stored body: a longer one could be written, and never read. */
  readonly bodyBytes: number;
  readonly writtenBytes: number;
  /** A page ends at this size, once it has one cell. */
  readonly pageBytes: number;
}

export const UNBOUNDED: SqlBounds = {
  bodyBytes: Number.POSITIVE_INFINITY,
  writtenBytes: Number.POSITIVE_INFINITY,
  pageBytes: Number.POSITIVE_INFINITY,
};

/** Runs several statements as one transaction, in one round trip. */
export interface SqlTransactions {
  readonly atOnce: number;
  /** More that may run while some wait for a lock. */
  readonly spare: number;
  /**
   * Runs statements that change rows on the writer, in order, then reads what each wants. Waits for a lock for at most
   * a second, since earlier statements hold theirs. A failed read leaves the changes reported. Throws SqlError with the
   * `position` of the refused statement; nothing was done, except after `unclear`.
   */
  run(statements: readonly Statement[]): Promise<readonly SqlChange[]>;
}

export interface SqlClient {
  readonly abilities: SqlAbilities;
  /** Number of nodes, the writer included; each can be asked by number. */
  readonly nodes: number;
  select(statement: Statement, target: Target): Promise<readonly SqlRow[]>;
  /** Runs on the writer. Throws `SqlError`. */
  change(statement: Statement): Promise<SqlChange>;
  /** Absent if this way to MySQL has none. */
  readonly transactions?: SqlTransactions;
  close(): Promise<void>;
}

/**
 * Why a statement failed, sorted by what its caller can conclude:
 *
 * - `duplicate`: error 1062, nothing was changed; `key` names the index.
 * - `contention`: deadlock or lock wait; it was rolled back, repeat it.
 * - `unclear`: timeout or lost connection after sending; it may have been done.
 * - `unreachable`: never sent; it was not done.
 * - `rejected`: the server refused it; it was not done.
 */
export type SqlFailure = 'duplicate' | 'contention' | 'unclear' | 'unreachable' | 'rejected';

type SqlErrorOptions = Partial<Omit<SqlError, 'failure' | 'name' | 'message' | 'stack' | 'at' | 'isLockWait'>>;

export class SqlError extends Error {
  override readonly name = 'SqlError';
  readonly failure: SqlFailure;
  readonly errno: number;
  /** The unique key of a `duplicate` without its table ("cell", "PRIMARY"). */
  readonly key: string;
  /** A time limit passed without a word from the server. */
  readonly timedOut: boolean;
  /** A time limit passed while this process was paused: no evidence against the server. */
  readonly wasPaused: boolean;
  /** The statement or its result exceeds what this way to MySQL carries. */
  readonly tooLarge: boolean;
  /** All connections were in use, which says nothing about the server. */
  readonly poolExhausted: boolean;
  readonly position: number | undefined;

  constructor(failure: SqlFailure, message: string, options: SqlErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
    this.errno = options.errno ?? 0;
    this.key = options.key ?? '';
    this.timedOut = options.timedOut ?? false;
    this.wasPaused = options.wasPaused ?? false;
    this.tooLarge = options.tooLarge ?? false;
    this.poolExhausted = options.poolExhausted ?? false;
    this.position = options.position;
  }

  /** The statement waited for a lock until its time limit. */
  get isLockWait(): boolean {
    return this.errno === LOCK_WAIT;
  }

  /** Returns the same error at another position of its transaction. */
  at(position: number): SqlError {
    return new SqlError(this.failure, this.message, { ...this, position, cause: this });
  }
}

/** Returns undefined for a failed statement; throws any other error. */
export function unlessFailed(error: unknown): undefined {
  if (!(error instanceof SqlError)) throw error;
}

/** ER_OPTION_PREVENTS_STATEMENT, ER_READ_ONLY_MODE: not the writer, or not any more. */
export const READ_ONLY: ReadonlySet<number> = new Set([1290, 1836]);

/** ER_LOCK_WAIT_TIMEOUT */
export const LOCK_WAIT = 1205;

/** Asks whether a server answers. */
export const HEALTH_CHECK: Statement = { sql: 'SELECT 1', parameters: [] };
