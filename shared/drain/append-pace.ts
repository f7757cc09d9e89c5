import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for the turn of so many cells: they may be appended once it resolves. */
export type AppendPace = (cells: number) => Promise<void>;

/** Rows that wait for one primary, of one shard or of several. */
export interface Backlog {
  readonly rows: number;
  /** Since the first of them came, by the clock of who drains. */
  readonly seconds: number;
  /** Whether it was seen coming. @default true */
  readonly isWatched?: boolean;
}

/** Of what waits, however little it is and however slowly it came. */
const LEAST_PER_SECOND = 100;
/**
 * Times the rate at which the backlog came: it is appended in half of the time in which it grew, and looked at until it
 * is gone in the rest.
 */
const FASTER = 2;
/**
 * What was there before anybody looked is taken to have come within half a minute at least: how long it really took is
 * not known.
 */
const LEAST_SECONDS_UNSEEN = 30;

/**
 * How many cells a second to append of what waits for a primary: twice as many as came a second while it grew. A rate
 * fixed once and for all is either felt by a small primary, or too slow for a large one.
 *
 * @param backlogs of its shards: each with its own time, so that one row that has waited for hours slows nothing but
 *   its own shard
 */
export function rateFor(backlogs: readonly Backlog[]): number {
  const came = backlogs.reduce(
    (sum, { rows, seconds, isWatched = true }) => sum + rows / Math.max(isWatched ? 1 : LEAST_SECONDS_UNSEEN, seconds),
    0,
  );
  return Math.max(LEAST_PER_SECOND, FASTER * came);
}

/**
 * Spreads appends evenly, one after the other: many at once would be felt by the primary's own writes.
 *
 * @param perSecond asked anew for each turn
 */
export function appendPace(perSecond: () => number): AppendPace {
  let next = performance.now();
  return async (cells) => {
    const turn = Math.max(next, performance.now());
    next = turn + (cells * 1000) / perSecond();
    const wait = turn - performance.now();
    if (wait >= 1) await sleep(wait);
  };
}
