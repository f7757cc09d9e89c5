const LEAST_PAUSE_MS = 20;
const MOST_PAUSE_MS = 500;
/** How often each shard is polled while notifications are heard: a missed one delays its cells by this much. */
const SLOW_MS = 10_000;

/** Bounds of the pauses between passes. Followers that share statements have the same ones. */
export interface Pauses {
  /** While cells come. @default 20 */
  readonly leastMs?: number;
  /** When nothing has come for a while, or nothing can be read. @default 500 */
  readonly mostMs?: number;
  /** A pause is at most this share of the time for which nothing has come. @default 1/4 */
  readonly shareOfQuiet?: number;
}

/** The result of a pass: more is waiting, something came, nothing came, or it failed. */
export type PassEnd = 'full' | 'some' | 'none' | 'failed';

/** Returns the pause after a pass: none after a full page, short while cells come, then doubling with its silence. */
export function adaptivePause({
  leastMs = LEAST_PAUSE_MS,
  mostMs = MOST_PAUSE_MS,
  shareOfQuiet = 1 / 4,
}: Pauses = {}): (end: PassEnd) => number {
  let pause = leastMs;
  // A new run, one each minute, counts as quiet until something comes.
  let quietMs = Number.POSITIVE_INFINITY;
  return (end) => {
    if (end === 'full' || end === 'some') {
      pause = end === 'full' ? 0 : leastMs;
      quietMs = 0;
    } else {
      quietMs += pause;
      const longer = Math.max(leastMs, 1, pause * 2);
      if (end === 'failed' || pause < Math.max(leastMs, 1) || longer <= quietMs * shareOfQuiet) pause = longer;
    }
    pause = Math.min(pause, mostMs);
    return pause;
  };
}

/**
 * Returns the time until a full multiple of a pause, so that followers of one process share statements. It is at least
 * a quarter of the pause, since timers may come early, and at most one and a quarter.
 */
export function untilMultiple(pauseMs: number, now: number): number {
  return pauseMs <= 0 ? 0 : Math.ceil((Math.floor(now / pauseMs + 0.25) + 1) * pauseMs - now);
}

/**
 * Returns when all shards were last due for a slow poll. That is just before the end of a longest pause, where no pass
 * begins. Of two concurrent passes none finds a shard due that the other does not.
 */
export function lastSlowPoll({ leastMs = LEAST_PAUSE_MS, mostMs = MOST_PAUSE_MS }: Pauses, now: number): number {
  const longestMs = Math.max(1, mostMs);
  const everyMs = Math.max(1, Math.floor(SLOW_MS / longestMs)) * longestMs;
  return Math.floor((now + leastMs / 2) / everyMs) * everyMs - leastMs / 2;
}
