/**
 * The subjects of a datastore, whose keys its sealed fields are under, as those see them who forget them. Types only.
 *
 * All throw `unavailable` when the keys cannot be reached, and may be repeated then.
 */
export interface SubjectOperations {
  /**
   * Forgets a subject for good: its key goes, and with it every value that was ever sealed under it, wherever that is.
   * Nothing is sealed for it any more. One that has no key is forgotten all the same, and its record says so
   * (`had_key`). Asked again, it answers the same record. Throws SchemalessError `invalid_field`, `missing_field`.
   */
  forget(request: ForgetRequest): Promise<ForgottenSubject>;
  /** The records, in no order. A page may have few of them, or none, and still not be the last. */
  forgotten(options?: ForgottenOptions): Promise<ForgottenPage>;
}

export interface ForgetRequest {
  /** As the field says that names it in bodies; a UUID in either case. Either this, or `subject_name`. */
  readonly subject?: string;
  /** What a record says of it: to forget it once more, where the table of keys was set back. */
  readonly subject_name?: string;
  /** Kept for good: nothing that is itself to be forgotten. 1 to 500 characters. */
  readonly reason: string;
}

interface ForgottenOptions {
  /** 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

export interface ForgottenPage {
  readonly subjects: readonly ForgottenSubject[];
  readonly next: string | null;
}

/** The record of a subject that was forgotten. Times are RFC 3339, UTC, by the clock of who did it. */
export interface ForgottenSubject {
  /** 32 hexadecimal digits, by a key of the datastore: it does not say who it is, and is the same whenever it is asked for. */
  readonly subject_name: string;
  readonly reason: string;
  /** Who asked: the caller as IAM knows it; `anybody` where calls are not signed. */
  readonly requested_by: string;
  readonly forgotten_at: string;
  /** Whether there was a key, now destroyed. False: nothing was ever sealed for it, or it is misspelt. */
  readonly had_key: boolean;
  /** From then on no instance has its key in memory: nobody reads, or writes, anything of it. */
  readonly unreadable_from: string;
  /** Until when a restore of the table of keys could bring the key back; null if unknown, as on one machine. */
  readonly key_in_backups_until: string | null;
  /** What is left of it that is no sealed value. */
  readonly not_reached: readonly string[];
}
