import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long tests wait for an expected event, on a machine that may have much else to do. It only ends a hang: a test of
 * speed sets its own limit.
 */
export const PATIENCE_MS = 90_000;

export interface Patience {
  /** Between two polls. @default 20 */
  readonly pollMs?: number;
  /** The time after which it gives up. @default never */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}

/** Polls until a condition is true. Returns whether it was in time. */
export async function comes(
  isSo: () => boolean | Promise<boolean>,
  { pollMs = 20, patienceMs = Number.POSITIVE_INFINITY, signal }: Patience = {},
): Promise<boolean> {
  // Clock: the limit only ends a hang.
  const deadline = performance.now() + patienceMs;
  while (!(await isSo())) {
    // Clock: as above.
    if (performance.now() > deadline) return false;
    // Clock: the pause between two polls.
    await sleep(pollMs, undefined, signal && { signal });
  }
  return true;
}

/**
 * Polls as `comes` does, but within `PATIENCE_MS` by default.
 *
 * @param what the condition, for the error: "the servers are back"
 * @throws Error if the condition is not true in time
 */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  { patienceMs = PATIENCE_MS, ...patience }: Patience = {},
): Promise<void> {
  if (await comes(isSo, { ...patience, patienceMs })) return;
  throw new Error(`waited ${patienceMs / 1000} s in vain: ${what}`);
}
