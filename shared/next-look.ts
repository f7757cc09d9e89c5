import { setTimeout as sleep } from 'node:timers/promises';

/** Least time between the starts of two looks: bounds the cost of callers that ask for unknown names all the time. */
const EVERY_MS = 100;

/** Shares a poll: one at a time, `EVERY_MS` apart; each caller gets one that began after its call. */
export function nextLook<T>(look: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function begin(): Promise<T> {
    await last;
    next = undefined;
    const found = look();
    last = Promise.allSettled([found, sleep(EVERY_MS)]);
    return found;
  }

  return () => (next ??= begin());
}
