import { setTimeout as sleep } from 'node:timers/promises';

export interface Pauses {
  /** While cells come. @default 20 */
  readonly leastMs?: number;
  /** When nothing has come for a while, or nothing can be read. @default 500 */
  readonly mostMs?: number;
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

/** Waits, or until the signal comes. */
export async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
