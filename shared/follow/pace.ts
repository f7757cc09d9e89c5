export const LEAST_PAUSE_MS = 20;
export const MOST_PAUSE_MS = 500;

export interface Pauses {
  /** While cells come. @default 20 */
  readonly leastMs?: number;
  /** When nothing has come for a while, or nothing can be read. @default 500 */
  readonly mostMs?: number;
  /**
   * Lets pauses end at full multiples of their length since the process began, so that followers of one process read at
   * the same moments and can share statements. Lengths should be multiples of each other. @default false
   */
  readonly aligned?: boolean;
  /**
   * A pause is at most this share of the time for which nothing has come: who came a moment ago comes again soon.
   * @default 1/4
   */
  readonly shareOfQuiet?: number;
}

/** What came of a pass: more is waiting, something came, nothing came, or it failed. */
export type PassEnd = 'full' | 'some' | 'none' | 'failed';

/**
 * How long to pause after a pass: not at all while a page was full, shortly while cells come, then ever longer, twice
 * as long at a time. To double with every pass that found nothing made a group that gets a few cells a second wait
 * longest.
 */
export function adaptivePause({
  leastMs = LEAST_PAUSE_MS,
  mostMs = MOST_PAUSE_MS,
  shareOfQuiet = 1 / 4,
}: Pauses = {}): (end: PassEnd) => number {
  let pause = leastMs;
  let quietMs = 0;
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
 * How long to wait for a full multiple of a pause: a quarter of the pause at least, so that a timer that comes early
 * does not wake twice, and one and a quarter at most.
 */
export function untilMultiple(pauseMs: number, now = performance.now()): number {
  return pauseMs <= 0 ? 0 : Math.ceil((Math.floor(now / pauseMs + 0.25) + 1) * pauseMs - now);
}
