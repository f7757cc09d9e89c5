import type { ShownRetention } from '../cell.ts';

/**
 * The operator's view of how long the cells of one datastore are kept, and of rows that are held back from every erasure:
 * the real one, and a client's over HTTP. Types only.
 *
 * All throw `unavailable` when the state cannot be reached, and may be repeated then.
 */
export interface RetentionOperations {
  /** How long cells are kept, and what was erased since it was out of that. */
  retention(): Promise<Retention>;
  /**
   * Holds a row, or a subject, under a name, as of a case: nothing of it is erased until the hold is released. Several
   * holds may be of the same row. Put again, it is the same hold, with its first reason.
   *
   * @throws SchemalessError `invalid_field`, `missing_field`
   */
  putHold(hold: HoldRequest): Promise<Hold>;
  /** Throws `unknown_hold`. */
  releaseHold(hold: HeldBy): Promise<Hold>;
  /** All of them, in no order; or those of a row or a subject. */
  holds(options?: HoldsOptions): Promise<HoldPage>;
  /**
   * Has the tables of the datastore written anew, one after the other, so that the pages of what was erased go. While that
   * goes on, asking again answers the same record.
   */
  purge(): Promise<Purge>;
}

/** The tables of a datastore written anew, in the background. */
export interface Purge {
  readonly state: 'purging' | 'purged';
  readonly requested_by: string;
  readonly requested_at: string;
  /** Null until it is done. */
  readonly purged_at: string | null;
  /** Tables of all groups, those with their buffers among them: how many were written anew, and how many there are. */
  readonly tables: number;
  readonly of: number;
  /** Of the tables that were written anew, as the servers' statistics have it. */
  readonly bytes_before: number;
  readonly bytes_after: number;
  /** Of the first group that cannot be worked on now, why. */
  readonly waits_for: string | null;
  /** Groups whose servers have logs of their own that were not written over, and why; null where none is known. */
  readonly logs_left: string | null;
}

export interface Retention {
  /** None: cells are kept for good. */
  readonly rules: readonly ShownRetention[];
  readonly columns: readonly RetainedColumn[];
  /** How long erasing what is out of its retention is overdue: 0 as a rule. Null where nobody has looked yet. */
  readonly behind_seconds: number | null;
  /** Erasures that are not done everywhere yet, and what the first of them waits for. */
  readonly open: number;
  readonly waits_for: string | null;
  /** The last one that was asked for. Null where none was. */
  readonly purge: Purge | null;
}

export interface RetainedColumn {
  readonly column: string;
  /** Which the erasures of the column have in logs and answers. */
  readonly id: string;
  /** The newest last. */
  readonly days: readonly RetainedDay[];
}

export interface RetainedDay {
  /** UTC: `2026-01-31`. */
  readonly day: string;
  /** Each of a row. */
  readonly erasures: number;
  /** Bodies that were erased, and their bytes as they were stored. */
  readonly cells: number;
  readonly bytes: number;
  /** When the first and the last were done. */
  readonly from: string;
  readonly to: string;
}

/** Which hold: its name, and what it is of, a row or a subject. */
export interface HeldBy {
  /** 1 to 128 of A-Z, a-z, 0-9, `.`, `_`, `:`, `/` and `-`: as that of a case. */
  readonly hold: string;
  readonly row_key?: string | undefined;
  /** As sealed fields name whom they are of, 1 to 255 bytes of UTF-8; a UUID in either case. */
  readonly subject?: string | undefined;
}

export interface HoldRequest extends HeldBy {
  /** 1 to 500 characters; kept until the hold is released. */
  readonly reason: string;
}

export interface Hold {
  readonly hold: string;
  /** Null of a subject. */
  readonly row_key: string | null;
  /** Null of a row. */
  readonly subject: string | null;
  readonly reason: string;
  readonly requested_by: string;
  readonly requested_at: string;
}

interface HoldsOptions {
  readonly row_key?: string | undefined;
  readonly subject?: string | undefined;
  /** Rows and subjects that are held: 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
  /** What `next` said. */
  readonly after?: string | undefined;
}

export interface HoldPage {
  readonly holds: readonly Hold[];
  readonly next: string | null;
}
