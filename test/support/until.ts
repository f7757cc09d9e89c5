import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long tests wait for what has to come, on a machine that may have much else to do. It ends what hangs, and says
 * nothing of how soon anything should be there: a test of that names a time of its own.
 */
export const PATIENCE_MS = 90_000;

export interface Patience {
  /** Between two looks. @default 20 */
  readonly pollMs?: number;
  /** Then it is given up. @default it never is */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}

/** Looks again and again until something is so. Returns whether it came to that in time. */
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
 * As `comes`, where it has to: within `PATIENCE_MS`, where no other time is said.
 *
 * @param what is not so otherwise: "the servers are back"
 * @throws Error when it does not
 */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  { patienceMs = PATIENCE_MS, ...patience }: Patience = {},
): Promise<void> {
  if (await comes(isSo, { ...patience, patienceMs })) return;
  throw new Error(`waited ${patienceMs / 1000} s in vain: ${what}`);
}
