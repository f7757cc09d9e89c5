import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { CellKey, NewCell, Role } from '../../shared/cell.ts';
import { describe } from '../../shared/errors.ts';
import type { BatchItem } from '../../shared/store/datastore.ts';
import type { DemoStore } from './demo-store.ts';
import type { Differences } from './differences.ts';
import { inChunks, inParallel } from './parallel.ts';
import { persist } from './persist.ts';
import type { Progress } from './progress.ts';

export interface ReadBackOptions {
  /** @default 'writer' */
  readonly read?: Role;
  /** Ask for the latest cell of each column, of which the cells given are to be it. @default false: by address */
  readonly latest?: boolean;
  readonly concurrency: number;
  /** How long a cell may take to appear: readers lag, buffered cells are appended later. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  readonly differences: Differences;
}

const KEYS_A_REQUEST = 50;
const PAUSE_MS = 200;

/** Reads every cell back and compares; asks again for those that are not there yet. Returns how many were equal. */
export async function readBack(store: DemoStore, cells: Iterable<NewCell>, options: ReadBackOptions): Promise<number> {
  const { differences, progress, read = 'writer', signal } = options;
  let equal = 0;
  let left = cells;
  for (let end = Number.POSITIVE_INFINITY; ; ) {
    const wrong: { readonly cell: NewCell; readonly what: string }[] = [];
    await inParallel(inChunks(left, KEYS_A_REQUEST), options.concurrency, signal, async (chunk) => {
      const items = await persist(signal, () => store.batchGet(chunk.map((cell) => keyOf(cell, options.latest)), { read }));
      for (const [place, cell] of chunk.entries()) {
        const what = difference(cell, items[place], read);
        if (what !== undefined) {
          wrong.push({ cell, what });
          continue;
        }
        equal += 1;
        differences.pass();
        progress.advance();
      }
    });
    if (wrong.length === 0) return equal;
    // The clock runs from the end of the first pass, however long that took.
    if (end === Number.POSITIVE_INFINITY) end = Date.now() + options.patienceMs;
    if (Date.now() > end) {
      for (const { cell, what } of wrong) differences.fail(cell, `${what} (asked the ${read})`);
      return equal;
    }
    left = wrong.map(({ cell }) => cell);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

function keyOf({ row_key, column_name, ref_key }: NewCell, latest: boolean | undefined): CellKey {
  return latest === true ? { row_key, column_name } : { row_key, column_name, ref_key };
}

/** What is wrong with an answer, undefined when nothing is. */
function difference(cell: NewCell, item: BatchItem | undefined, read: Role): string | undefined {
  if (item === undefined) return 'no answer in its place';
  if (item === null) return 'not found';
  if ('error' in item) return `${item.error.code}: ${item.error.message}`;
  if (item.row_key !== cell.row_key || item.column_name !== cell.column_name) return `got the cell ${item.row_key}/${item.column_name}`;
  if (item.ref_key !== cell.ref_key) return `got ref key ${item.ref_key}`;
  if (!isDeepStrictEqual(item.body, cell.body)) return `another body, ${describe(item.body)}`;
  return item.served_by === read ? undefined : `answered by the ${item.served_by}`;
}
