import { pauseFor } from '../pause-for.ts';

const FIRST_MS = 50;
const LONGEST_MS = 2_000;
/** The longest `Retry-After` that the client obeys. */
const LONGEST_RETRY_AFTER_MS = 30_000;

/** Returns the pause in ms before attempt `attempt` + 1: random up to 50, 100 … 2000, plus `Retry-After` seconds. */
export function pauseMs(attempt: number, retryAfter: string | null, random: () => number = Math.random): number {
  const spread = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1)) * random();
  const asked = retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : 0;
  return Math.min(LONGEST_RETRY_AFTER_MS, asked) + spread;
}

/** Waits as before an attempt; returns false, at once, on the signal. */
export async function pauseOrEnd(attempt: number, signal: AbortSignal | undefined): Promise<boolean> {
  await pauseFor(pauseMs(attempt, null), signal);
  return !isAborted(signal);
}

/** Returns whether the signal has come by now, since it may come in any wait. */
export function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
