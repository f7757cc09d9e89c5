import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell } from '../../../shared/cell.ts';
import type { Random } from '../../support/random.ts';
import type { CellWriter } from './ask.ts';

export interface StoredCell {
  readonly cell: NewCell;
  readonly shard: number;
}

/** A stored cell, read later: it was there with its body, with another one, or not there. */
export interface Sample {
  readonly shard: number;
  readonly seen: 'same' | 'other' | 'missing';
  /** Epoch milliseconds. */
  readonly at: number;
}

type Polled = Pick<CellWriter, 'get'> | undefined;

const PAUSE_MS = 5;

/** Reads some of the cells, while their number grows, until it is over. */
export async function checkBack(
  store: Polled,
  stored: readonly StoredCell[],
  random: Random,
  isOver: () => boolean,
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  while (!isOver()) {
    const one = stored[random.integer(0, Math.max(0, stored.length - 1))];
    const sample = one && (await checkAt(store, one));
    if (sample) samples.push(sample);
    await sleep(PAUSE_MS);
  }
  return samples;
}

/** Returns undefined without an answer, or if a stale one has no cell. */
async function checkAt(store: Polled, { cell, shard }: StoredCell): Promise<Sample | undefined> {
  const at = Date.now();
  const found = await store?.get?.(cell).catch(() => undefined);
  if (!found || (found.stale && !found.cell)) return undefined;
  const { cell: there } = found;
  // Contested cells of one address differ in this field only.
  const bodyOf = ({ body }: Pick<NewCell, 'body'>): unknown => Object(body).body;
  return { shard, seen: !there ? 'missing' : bodyOf(there) === bodyOf(cell) ? 'same' : 'other', at };
}
