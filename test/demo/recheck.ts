import { setTimeout as sleep } from 'node:timers/promises';
import { inChunks, inParallel } from '../support/parallel.ts';

export interface Rechecking {
  /** Items that are looked at together. */
  readonly size: number;
  readonly concurrency: number;
  /** How long what is wrong is looked at again, from the end of the first pass on, however long that took. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

export interface Wrong<Item> {
  readonly item: Item;
  readonly what: string;
}

const PAUSE_MS = 200;

/**
 * Checks every item, and those that are wrong again until none is, or the patience ends: readers lag, and buffered
 * cells are appended later.
 *
 * @param check says of items that are looked at together which are wrong
 * @returns what is still wrong then
 */
export async function recheck<Item>(
  items: Iterable<Item>,
  check: (part: readonly Item[]) => Promise<readonly Wrong<Item>[]>,
  { size, concurrency, patienceMs, signal }: Rechecking,
): Promise<readonly Wrong<Item>[]> {
  let left = items;
  for (let end = Number.POSITIVE_INFINITY; ;) {
    const wrong: Wrong<Item>[] = [];
    await inParallel(
      inChunks(left, size),
      concurrency,
      signal,
      async (part) => void wrong.push(...(await check(part))),
    );
    if (wrong.length === 0) return [];
    if (end === Number.POSITIVE_INFINITY) end = Date.now() + patienceMs;
    if (Date.now() > end) return wrong;
    left = wrong.map(({ item }) => item);
    await sleep(Math.min(PAUSE_MS, patienceMs), undefined, { signal });
  }
}
