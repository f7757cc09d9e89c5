import type { Figure } from './figure.ts';

/** What only the account knows. Each throws an Error that says what is in the way. */
export interface Account {
  /** Throws unless its API is the one at this URL. */
  check(url: string): Promise<void>;
  /** Starts of functions since a time: how many, and how long their initialization took. */
  coldStarts(since: Date): Promise<readonly Figure[]>;
  /** How many connections of each proxy were pinned at most. */
  pinned(since: Date): Promise<readonly Figure[]>;
  /** What the last whole day cost, by service. */
  bill(): Promise<readonly Figure[]>;
  /** How a reader of a group is made to take over: to be called, and over once that has begun. */
  failOverOf(group: string): Promise<() => Promise<void>>;
}
