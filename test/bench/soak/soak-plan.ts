import type { StoreAccess } from '../../support/store-access.ts';

/** What the process that soaks is told; plain data. */
export interface SoakPlan {
  readonly access: StoreAccess;
  readonly seed: string;
  /** Trips that are there already. */
  readonly written: number;
  readonly minutes: number;
  /** Of each "minute": shorter for a trial. */
  readonly minuteSeconds: number;
  /** Of the peak. */
  readonly share: number;
}

/** One minute of the steady load. */
export interface SoakMinute {
  /**
   * From when an operation was due, in milliseconds; those that were refused took for ever. Of the twelfths of the
   * minute the median: some seconds in which the machine had something else to do do not count.
   */
  readonly p50: number;
  readonly p99: number;
  readonly operations: number;
  readonly refused: number;
  /** Answers that cannot be right. */
  readonly wrong: number;
  /**
   * Copies of writes that wait in the groups' buffers at its end: some seconds' worth, as long as the drain keeps up.
   */
  readonly buffered: number;
  /** Of the store's own process, once its garbage was collected. */
  readonly residentBytes: number;
}

export interface SoakProgress {
  /** Operations a second at best; undefined until it is known. */
  readonly peak?: number;
  readonly minutes: readonly SoakMinute[];
}
