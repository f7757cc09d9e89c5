import { setTimeout as sleep } from 'node:timers/promises';

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
}

/** What came of a pass: more is waiting, something came, nothing came, or it failed. */
export type PassEnd = 'full' | 'some' | 'none' | 'failed';

/** How long to pause after a pass: not at all while a page was full, shortly while cells come, then ever longer. */
export function adaptivePause({ leastMs = 20, mostMs = 500 }: Pauses = {}): (end: PassEnd) => number {
  let pause = leastMs;
  return (end) => {
    if (end === 'full') pause = 0;
    else if (end === 'some') pause = leastMs;
    else pause = Math.min(mostMs, Math.max(leastMs, 1, pause * 2));
    return Math.min(pause, mostMs);
  };
}

/**
 * How long to wait for a full multiple of a pause: a quarter of the pause at least, so that a timer that comes early does
 * not wake twice, and one and a quarter at most.
 */
export function untilMultiple(pauseMs: number, now = performance.now()): number {
  return pauseMs <= 0 ? 0 : Math.ceil((Math.floor(now / pauseMs + 0.25) + 1) * pauseMs - now);
}

/** Waits, or until the signal comes. */
export async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
