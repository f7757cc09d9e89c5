import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  /** Between two looks. @default 50 */
  readonly pollMs?: number;
  /** Then it is given up. @default it never is */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}

/** Looks again and again until something is so. Returns whether it came to that in time. */
export async function comes(
  isSo: () => boolean | Promise<boolean>,
  { pollMs = 50, patienceMs = Number.POSITIVE_INFINITY, signal }: Patience = {},
): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) return false;
    await sleep(pollMs, undefined, signal && { signal });
  }
  return true;
}

/**
 * As `comes`, where it has to.
 *
 * @param what is not so otherwise: "the servers are back"
 * @throws Error when it does not
 */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, patience: Patience): Promise<void> {
  if (await comes(isSo, patience)) return;
  throw new Error(`waited ${(patience.patienceMs ?? 0) / 1000} s in vain: ${what}`);
}
