import { setTimeout as sleep } from 'node:timers/promises';

export type AppendPace = ReturnType<typeof appendPace>;

export interface Backlog {
  readonly rows: number;
  /** Since the first came, by the drain's clock. */
  readonly seconds: number;
  readonly isWatched?: boolean;
}

const LEAST_PER_SECOND = 100;
/** Times the arrival rate. More is felt by the primary's own writes; less never catches up. */
const FASTER = 1.5;
/** A backlog older than the drain is taken to have come in at least this time. */
const LEAST_SECONDS_UNSEEN = 30;

/** Returns the cells a second to append: 1.5 times their arrival rate, by each shard's backlog. */
export function rateFor(backlogs: readonly Backlog[]): number {
  const came = backlogs.reduce(
    (sum, { rows, seconds, isWatched = true }) => sum + rows / Math.max(isWatched ? 1 : LEAST_SECONDS_UNSEEN, seconds),
    0,
  );
  return Math.max(LEAST_PER_SECOND, FASTER * came);
}

/** An append this much slower than usual shows a busy primary, as with a disk that stalls. */
const SLOW = 3;
/** Weight of one append in the usual time: that of about the last twenty. */
const WEIGHT = 0.05;

/** Spreads appends evenly; a rest follows a slow one, since more appends would prolong the stall. */
export function appendPace(perSecond: () => number) {
  let next = performance.now();
  let restUntil = next;
  /** Sum of all rests in ms: it delays those that already wait. */
  let rests = 0;
  let usual: number | undefined;
  return {
    async turn(cells: number): Promise<void> {
      const turn = Math.max(next, restUntil, performance.now()) - rests;
      next = turn + rests + (cells * 1000) / perSecond();
      for (let wait = waitFor(turn); wait >= 1; wait = waitFor(turn)) await sleep(wait);
    },
    /** Reports how long a turn's append took: after a slow one the primary rests as long. */
    took(milliseconds: number): void {
      usual ??= milliseconds;
      if (milliseconds > SLOW * usual) rest(milliseconds);
      usual += WEIGHT * (Math.min(milliseconds, SLOW * usual) - usual);
    },
  };

  function waitFor(turn: number): number {
    return turn + rests - performance.now();
  }

  /** Overlapping pauses count once: appends that were slow in parallel pause in parallel. */
  function rest(milliseconds: number): void {
    const now = performance.now();
    const longer = Math.max(0, now + milliseconds - Math.max(restUntil, now));
    restUntil = Math.max(restUntil, now + milliseconds);
    rests += longer;
    next += longer;
  }
}
