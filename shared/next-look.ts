import { setTimeout as sleep } from 'node:timers/promises';

/** Between the beginnings of two looks: bounds what callers can cost that ask for unknown names all the time. */
const EVERY_MS = 100;

/**
 * Shares a look among its callers. One look runs at a time, and looks begin `EVERY_MS` apart at least. A caller that
 * comes while a look runs waits for the next one: each caller gets what a look found that began after its call.
 */
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
