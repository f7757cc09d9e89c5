import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 100;

/** Waits until a log is applied. Throws what the check throws, or after the time. */
export async function untilApplied(timeoutSeconds: number, isApplied: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + timeoutSeconds * 1000;
  while (!(await isApplied())) {
    if (performance.now() > deadline) throw new Error(`the log is not applied after ${timeoutSeconds} s`);
    await sleep(POLL_MS);
  }
}
