import type { ErasureScope, ShownRetention } from '../cell.ts';

/**
 * The operator's view of what was erased from one datastore, and who has it erased: the real one, and a client's over
 * HTTP. Types only.
 *
 * An erasure takes bodies away for good: those of a row, of a column of it, of its versions up to one, or of one cell.
 * Their places in the log stay, so that added ids, offsets and digests are what they were, and nothing is ever written
 * there again: a write is answered `erased`. It has a place in the log itself, in order, so that who follows the log, and
 * every trigger of the column, hears of it.
 *
 * All throw `unavailable` when the state cannot be reached, and may be repeated then.
 */
export interface ErasureOperations {
  /**
   * Erases, and answers as soon as it is done everywhere, or after some seconds: what is left is done in the
   * background, which the record tells. Asked again for the same, it answers the same record, and looks once more
   * whether anything has come back. Throws SchemalessError `invalid_field`, `missing_field`.
   */
  erase(target: ErasureRequest): Promise<Erasure>;
  /** Throws `unknown_erasure`. */
  erasure(id: string): Promise<Erasure>;
  /** All of them, in no order. */
  erasures(options?: ErasuresOptions): Promise<ErasurePage>;
  /** Returns how long cells are kept, and what was erased by that. */
  retention(): Promise<Retention>;
}

/** What is to be erased: a row; with `column_name` a column of it; with `up_to` its versions up to that one; with `ref_key` one cell. */
export interface ErasureRequest {
  readonly row_key: string;
  readonly column_name?: string;
  readonly ref_key?: number;
  readonly up_to?: number;
  /** Kept for good, and shown to who reads the row: nothing that is itself to be forgotten. 1 to 500 characters. */
  readonly reason: string;
}

interface ErasuresOptions {
  /** Those that are not done everywhere yet. @default all */
  readonly open?: boolean | undefined;
  /** 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
  /** The id of the last one seen. */
  readonly after?: string | undefined;
}

export interface ErasurePage {
  readonly erasures: readonly Erasure[];
  readonly next: string | null;
}

/** The record of an erasure. Times are RFC 3339, UTC, by the eraser's clock; null until it is done. */
export interface Erasure {
  /** The same for the same target, whenever it is asked for. */
  readonly id: string;
  readonly scope: ErasureScope;
  readonly row_key: string;
  /** Null of a row. */
  readonly column_name: string | null;
  readonly ref_key: number | null;
  /** Of versions: the last one that was erased. */
  readonly up_to: number | null;
  readonly shard: number;
  readonly reason: string;
  /** Who asked: the caller as IAM knows it; `anybody` where calls are not signed. */
  readonly requested_by: string;
  readonly requested_at: string;
  /** `erasing`: `waits_for` says what is missing. */
  readonly state: 'erasing' | 'erased';
  /** The place of the erasure in the shard's log; null as long as it is buffered, or where a wider one came before it. */
  readonly added_id: number | null;
  /** Bodies that were erased, and their bytes as they were stored. */
  readonly cells: number;
  readonly bytes: number;
  /** When it was done everywhere for the first time: it stays when it is asked for again. */
  readonly erased_at: string | null;
  /** When which places were found clean the last time. */
  readonly cleaned: ErasureTimes;
  readonly waits_for: string | null;
  /** Until when backups and binary logs may hold the erased bodies; null if unknown, as on one machine. */
  readonly backups_until: string | null;
}

export interface ErasureTimes {
  /** On the shard's writer: no read shows them, and no write comes there any more. */
  readonly bodies: string | null;
  /** Of the indexes: what is left is a tombstone with the shard field alone, for a day. */
  readonly entries: string | null;
  /** Buffered writes, kept conflicts, and copies that were kept for a primary that is set back. */
  readonly copies: string | null;
  /** What triggers kept of cells that they failed on. */
  readonly parked: string | null;
  /** Every node that could become the writer, and the copy of a shard that is being moved. */
  readonly nodes: string | null;
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
  readonly erasures: number;
  /** Bodies that were erased, and their bytes as they were stored. */
  readonly cells: number;
  readonly bytes: number;
  /** When the first and the last were done. */
  readonly from: string;
  readonly to: string;
}
