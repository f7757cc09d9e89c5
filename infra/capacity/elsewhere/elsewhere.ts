import type { BillLine } from '../plan.ts';

/**
 * The same cells, entries and triggers in another database of AWS: what holds them, and calls functions for them. What
 * stands in front is not in it: the bill's lines that are `inFront` are the same there.
 */
export interface Elsewhere {
  readonly bill: readonly BillLine[];
  /** USD a month, all lines. */
  readonly monthlyUsd: number;
  /** USD a month that each further month of cells adds. */
  readonly storedUsd: number;
  /** Whether it needs more than an account has by default. */
  readonly isExceeded: boolean;
}
