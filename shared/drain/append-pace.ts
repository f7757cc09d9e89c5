import { setTimeout as sleep } from 'node:timers/promises';

/** When what waits for one primary is appended to it. */
export interface AppendPace {
  /** Waits for the turn of so many cells: they may be appended once it resolves. */
  turn(cells: number): Promise<void>;
  /** Appending the cells of a turn took so long: where that is long for this primary, it is left in peace for as long. */
  took(milliseconds: number): void;
}

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
 * Times the rate at which the backlog came: it is appended in two thirds of the time in which it grew, and looked at
 * until it is gone in the rest. With more the primary's own writes feel it, with less what comes meanwhile is never caught
 * up with.
 */
const FASTER = 1.5;
/**
 * What was there before anybody looked is taken to have come within half a minute at least: how long it really took is
 * not known.
 */
const LEAST_SECONDS_UNSEEN = 30;

/**
 * How many cells a second to append of what waits for a primary: half as many again as came a second while it grew. A
 * rate fixed once and for all is either felt by a small primary, or too slow for a large one.
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

/** Times the usual: a primary that takes so long is busy with other things, as with a disk that stalls. */
const SLOW = 3;
/** Of each append, in what is usual: that of the last twenty or so. */
const WEIGHT = 0.05;

/**
 * Spreads appends evenly, one after the other: many at once would be felt by the primary's own writes. One that was slow
 * is followed by a rest: what else is sent into a stall makes it longer, for these writes, too.
 *
 * @param perSecond asked anew for each turn
 */
export function appendPace(perSecond: () => number): AppendPace {
  let next = performance.now();
  let restUntil = next;
  /** Of all rests so far, in milliseconds: those who already wait for their turn wait longer, and not all for the same end. */
  let rests = 0;
  let usual: number | undefined;
  return {
    async turn(cells) {
      const turn = Math.max(next, restUntil, performance.now()) - rests;
      next = turn + rests + (cells * 1000) / perSecond();
      for (let wait = waitFor(turn); wait >= 1; wait = waitFor(turn)) await sleep(wait);
    },
    took(milliseconds) {
      usual ??= milliseconds;
      if (milliseconds > SLOW * usual) rest(milliseconds);
      usual += WEIGHT * (Math.min(milliseconds, SLOW * usual) - usual);
    },
  };

  function waitFor(turn: number): number {
    return turn + rests - performance.now();
  }

  /** Appends that were slow together have their rest together. */
  function rest(milliseconds: number): void {
    const now = performance.now();
    const longer = Math.max(0, now + milliseconds - Math.max(restUntil, now));
    restUntil = Math.max(restUntil, now + milliseconds);
    rests += longer;
    next += longer;
  }
}
