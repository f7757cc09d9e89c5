import { setTimeout as sleep } from 'node:timers/promises';
import type { SchemalessClient } from '../../shared/client/client.ts';
import { inParallel } from '../support/parallel.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import type { Differences } from './differences.ts';

export type DemoClient = DemoStore & Pick<SchemalessClient, 'with'>;

/** The context of every check. */
export interface Checking {
  readonly store: DemoClient;
  readonly differences: Differences;
  /** How long a difference is rechecked: readers lag, and buffered cells are appended later. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

export interface Wrong<Item> {
  readonly item: Item;
  readonly what: string;
}

/** Requests under way at once. */
export const CONCURRENCY = 16;
const PAUSE_MS = 200;

/**
 * Checks items, and rechecks wrong ones until none is left, or the patience ends. Counts those that passed.
 *
 * @param check says which of some items are wrong
 * @returns the items that are still wrong then
 */
export async function recheck<Item>(
  items: readonly Item[],
  check: (items: readonly Item[]) => Promise<readonly Wrong<Item>[]>,
  { differences, patienceMs, signal }: Checking,
): Promise<readonly Wrong<Item>[]> {
  let wrong = await check(items);
  for (const end = Date.now() + patienceMs; wrong.length > 0 && Date.now() < end;) {
    await sleep(Math.min(PAUSE_MS, patienceMs), undefined, { signal });
    wrong = await check(wrong.map(({ item }) => item));
  }
  signal.throwIfAborted();
  differences.passed += items.length - wrong.length;
  return wrong;
}

/** Returns the error in an item; undefined if there is none. */
type CheckOne<Item> = (item: Item) => Promise<string | undefined>;

/** Works as `recheck` does, item by item. */
export function recheckEach<Item>(
  items: readonly Item[],
  check: CheckOne<Item>,
  checking: Checking,
): Promise<readonly Wrong<Item>[]> {
  const checkSome = async (some: readonly Item[]): Promise<readonly Wrong<Item>[]> => {
    const wrong: Wrong<Item>[] = [];
    await inParallel(some, CONCURRENCY, checking.signal, async (item) => {
      const what = await check(item);
      if (what !== undefined) wrong.push({ item, what });
    });
    return wrong;
  };
  return recheck(items, checkSome, checking);
}
