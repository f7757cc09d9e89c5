/**
 * The port through which the datastore reaches one group's MySQL. Types only; adapters live beside it.
 *
 * A statement is text with `?` for each bound value; nothing else of a request ever reaches the text. Statements are
 * autocommitted, each or several together, so nothing is held between two calls.
 */

/** What may be bound. Numbers must be safe integers or finite doubles; adapters refuse everything else. */
export type SqlParameter = string | number | bigint | Uint8Array | null;

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
  /** Of a union: what it is made of, see `unionOf`. */
  readonly parts?: readonly Statement[];
  /**
   * The table of a shard that it waits for while somebody locks it; or that it names several, see `unionOf`. @default
   * none: nobody locks the control database
   */
  readonly table?: string;
  /**
   * Others may be committed with it: it is small, waits for nothing for long, and what it does may as well be done
   * twice.
   * @default committed by itself
   */
  readonly mayShareCommit?: true;
  /**
   * Who sends it reckons with a `duplicate`, which is nobody's fault: what is committed with it is done without it.
   * @default what fails is tried by itself, and its table goes by itself for a while
   */
  readonly mayBeThere?: true;
  /**
   * Run on a fresh connection of its own: neither a dead socket nor others that wait keep it from being answered.
   * @default on any
   */
  readonly apart?: true;
  /**
   * Of one that is `apart`: how many milliseconds it may take, however long others have. Where the way to MySQL gives up
   * before, it goes on there, and ends as `unclear` here. @default as long as a sign of life
   */
  readonly withinMs?: number;
  /**
   * Of a change: what is to be read of the writer once it is committed, in the same round trip where the way to MySQL
   * has such a thing; it brings little, and need not be read at all.
   */
  readonly thenSelect?: ReadBehind;
  /** Of a change: a shard whose followers are to hear that it has new cells, once it is committed. */
  readonly moves?: Moved;
  /** Of an append, where others may be committed with it: the log that it is for. */
  readonly log?: AppendedLog;
}

/** What is read behind a change, together with what others want to be read. */
export interface ReadBehind {
  /** How many items it is about: the first column says of which a row is. */
  readonly items: number;
  /** How many SELECTs it is made of. */
  readonly branches: number;
  /** SELECTs that can stand in a union, whose items are numbered from this number on. */
  from(first: number): Statement;
}

/** A shard's log, to which a statement appends. */
export interface AppendedLog {
  readonly datastore: string;
  readonly shard: number;
  readonly epoch: number;
  /** How the same is done with less in a transaction. */
  readonly numbered?: NumberedCells;
}

/** Cells for the end of a log, which the shard's row knows. */
export interface NumberedCells {
  /** How many they are. */
  readonly count: number;
  /** Inserts them once they have their numbers; the insert id is the last added id. */
  readonly insert: Pick<Statement, 'sql' | 'parameters'>;
}

/** A shard to whose log cells were appended. */
export interface Moved {
  readonly datastore: string;
  readonly shard: number;
}

/** A value of a result: integers, decimals and times come as strings, binary columns as bytes. */
export type SqlValue = string | number | Uint8Array | null;

/** A row's values, in the order of the select list. */
export type SqlRow = readonly SqlValue[];

export interface SqlChange {
  readonly affectedRows: number;
  /** What LAST_INSERT_ID(…) was set to, or 0. */
  readonly insertId: number;
  /** What `thenSelect` brought, of a snapshot taken after the commit; items from 0 on. @default it was not read */
  readonly rows?: readonly SqlRow[];
  /** The followers of the shard that it moves hear of it. */
  readonly hasRung?: true;
}

/** Which node of the group runs a statement: its writer, any reader, or the nth node (from 0), whatever its role is. */
export type Target = 'writer' | 'reader' | { readonly node: number };

interface SqlAbilities {
  /** Statements sent to `reader` really run on a reader. */
  readonly readsFromReaders: boolean;
  /** An acknowledged write outlives the writer's disk, since each reader can be asked for it. */
  readonly survivesDiskLoss: boolean;
  /** Followers hear of new cells, see `Statement.moves`. @default they look for themselves */
  readonly hasBells?: boolean;
  /** Changes that come together are committed together, see `Statement.mayShareCommit`. @default each by itself */
  readonly sharesCommits?: boolean;
  readonly bounds: SqlBounds;
}

/** What one statement may carry and bring, in bytes. */
export interface SqlBounds {
  /** One body as it is stored; a longer one could be written, and never read again. */
  readonly bodyBytes: number;
  /** Bodies of all cells of one statement that writes. */
  readonly writtenBytes: number;
  /** Bodies at which a page ends, once it has one cell. */
  readonly pageBytes: number;
}

/** Nothing is narrower than the datastore's own limits. */
export const UNBOUNDED: SqlBounds = {
  bodyBytes: Number.POSITIVE_INFINITY,
  writtenBytes: Number.POSITIVE_INFINITY,
  pageBytes: Number.POSITIVE_INFINITY,
};

/** Several statements at once: all of them or none, in one round trip and with one commit. */
export interface SqlTransactions {
  /** How many should be under way. */
  readonly atOnce: number;
  /** How many more may be, for as long as some of them wait for a lock; yet others would wait for a connection. */
  readonly spare: number;
  /**
   * Runs statements that change rows, on the writer, in their order. Waits for a lock for a second at most, since what
   * the statements before have locked is held meanwhile. Then, once they are committed, what each of them wants to be
   * read; where that fails, the changes are told without it.
   *
   * @throws SqlError with the `position` of the statement that the server refused; nothing was done, but after
   *   `unclear`
   */
  run(statements: readonly Statement[]): Promise<readonly SqlChange[]>;
}

/** One group's MySQL. */
export interface SqlClient {
  readonly abilities: SqlAbilities;
  /** How many nodes the group has, its writer among them; they can be asked by number. */
  readonly nodes: number;
  /** Runs a statement that returns rows. Throws `SqlError`. */
  select(statement: Statement, target: Target): Promise<readonly SqlRow[]>;
  /** Runs a statement that changes rows, on the writer. Throws `SqlError`. */
  change(statement: Statement): Promise<SqlChange>;
  /** @default there are none the way that MySQL is reached */
  readonly transactions?: SqlTransactions;
  close(): Promise<void>;
}

/**
 * Why a statement failed, sorted by what its caller can conclude.
 *
 * - `duplicate`: error 1062, nothing was changed; `key` names the index.
 * - `contention`: deadlock or lock wait; the statement was rolled back, repeat it.
 * - `unclear`: timeout or lost connection after sending: it may have been done.
 * - `unreachable`: never sent (connect failed, pool exhausted, circuit open, a proxy had no connection for it): it was
 *   not done.
 * - `rejected`: the server refused the statement (syntax, rights, no such table, read only): it was not done.
 */
export type SqlFailure = 'duplicate' | 'contention' | 'unclear' | 'unreachable' | 'rejected';

interface SqlErrorOptions {
  readonly errno?: number;
  readonly key?: string;
  readonly timedOut?: boolean;
  readonly stoodStill?: boolean;
  readonly tooLarge?: boolean;
  readonly poolExhausted?: boolean;
  readonly position?: number | undefined;
  readonly cause?: unknown;
}

export class SqlError extends Error {
  readonly failure: SqlFailure;
  /** MySQL's error number, 0 where there is none. */
  readonly errno: number;
  /** Of a `duplicate`: the name of the unique key, without its table ("cell", "PRIMARY"). */
  readonly key: string;
  /**
   * Of `unclear` and `unreachable`: a time limit passed without a word from the server, as one that hangs gives none.
   */
  readonly timedOut: boolean;
  /**
   * Of `unclear`: a time limit passed, and part of it while this process itself stood still. It speaks against nobody.
   */
  readonly stoodStill: boolean;
  /** Of `rejected`: the statement, or its result, is beyond what this way to MySQL carries. */
  readonly tooLarge: boolean;
  /** Of `unreachable`: all connections were in use, which says nothing of the server. */
  readonly poolExhausted: boolean;
  /** Of a transaction: which statement the server refused, from 0; undefined where none. */
  readonly position: number | undefined;

  constructor(failure: SqlFailure, message: string, options: SqlErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SqlError';
    this.failure = failure;
    this.errno = options.errno ?? 0;
    this.key = options.key ?? '';
    this.timedOut = options.timedOut ?? false;
    this.stoodStill = options.stoodStill ?? false;
    this.tooLarge = options.tooLarge ?? false;
    this.poolExhausted = options.poolExhausted ?? false;
    this.position = options.position;
  }

  /** The same error of another statement of its transaction. */
  at(position: number): SqlError {
    const { errno, key, timedOut, stoodStill, tooLarge, poolExhausted } = this;
    const options = { errno, key, timedOut, stoodStill, tooLarge, poolExhausted, position, cause: this };
    return new SqlError(this.failure, this.message, options);
  }
}
