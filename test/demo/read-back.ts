import { isDeepStrictEqual } from 'node:util';
import type { Cell, CellKey, NewCell, Role } from '../../shared/cell.ts';
import { describe } from '../../shared/errors.ts';
import type { BatchItem } from '../../shared/contract/datastore.ts';
import type { DemoStore } from '../support/trips/demo-store.ts';
import type { Differences } from './differences.ts';
import { persist } from '../support/persist.ts';
import type { Progress } from '../support/progress.ts';
import { recheck, type Wrong } from './recheck.ts';
import { askedText, type WrittenTrips } from './written-trips.ts';

interface ReadBackOptions {
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
  /** Told of every cell that was as it should be. */
  readonly found?: (cell: Cell) => void;
}

const KEYS_A_REQUEST = 50;

/**
 * Reads every cell back that was acknowledged, and compares; asks again for those that are not there yet. Returns how
 * many were equal.
 */
export async function readBack(store: DemoStore, trips: WrittenTrips, options: ReadBackOptions): Promise<number> {
  const { differences, progress, read = 'writer', signal } = options;
  let equal = 0;
  const check = async (chunk: readonly NewCell[]): Promise<readonly Wrong<NewCell>[]> => {
    const keys = chunk.map((cell) => keyOf(cell, options.latest));
    const items = await persist(signal, () => store.batchGet(keys, { read }));
    return chunk.flatMap((cell, position) => {
      const item = items[position];
      const what = difference(cell, item, read);
      if (what !== undefined) return [{ item: cell, what }];
      if (item && 'body' in item) options.found?.(item);
      equal += 1;
      differences.pass();
      progress.advance();
      return [];
    });
  };
  const cells = options.latest === true ? trips.latest() : trips.acknowledged();
  for (const { item, what } of await recheck(cells, check, { ...options, size: KEYS_A_REQUEST }))
    differences.fail(item, `${what} ${askedText(read, trips.outcomeOf(item))}`);
  return equal;
}

function keyOf({ row_key, column_name, ref_key }: NewCell, latest: boolean | undefined): CellKey {
  return latest === true ? { row_key, column_name } : { row_key, column_name, ref_key };
}

/** What is wrong with an answer, undefined when nothing is. */
function difference(cell: NewCell, item: BatchItem | undefined, read: Role): string | undefined {
  if (item === undefined) return 'no answer in its place';
  if (item === null) return 'not found';
  if ('error' in item) return `${item.error.code}: ${item.error.message}`;
  if (item.row_key !== cell.row_key || item.column_name !== cell.column_name)
    return `got the cell ${item.row_key}/${item.column_name}`;
  if (item.ref_key !== cell.ref_key) return `got ref key ${item.ref_key}`;
  if (!isDeepStrictEqual(item.body, cell.body)) return `another body, ${describe(item.body)}`;
  return item.served_by === read ? undefined : `answered by the ${item.served_by}`;
}
