import { setTimeout as sleep } from 'node:timers/promises';

/** The least time between the starts of two polls: bounds the cost of callers that keep asking for unknown names. */
const EVERY_MS = 100;

/** Shares a poll: one at a time, `EVERY_MS` apart; each caller gets one that began after its call. */
export function nextPoll<T>(poll: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function begin(): Promise<T> {
    await last;
    next = undefined;
    const found = poll();
    last = Promise.allSettled([found, sleep(EVERY_MS)]);
    return found;
  }

  return () => (next ??= begin());
}
