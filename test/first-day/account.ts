import type { Figure } from './figure.ts';

/** What only the account knows. Each throws an Error that says what is in the way. */
export interface Account {
  /** Starts of functions since a time: how many, and how long their initialization took. */
  coldStarts(since: Date): Promise<readonly Figure[]>;
  /** How many connections of each proxy were pinned at most. */
  pinned(since: Date): Promise<readonly Figure[]>;
  /** What the last whole day cost, by service. */
  bill(): Promise<readonly Figure[]>;
  /** Has a reader of a group take over; returns once that has begun. */
  failOver(group: string): Promise<void>;
}
