import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, or until the signal comes. */
export async function pauseFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
