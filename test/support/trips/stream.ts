import type { NewCell } from '../../../shared/cell.ts';
import { requestTime } from './clock.ts';
import { DueCells } from './due-cells.ts';
import type { TripSize } from './journey.ts';
import { tripCells } from './trip.ts';

interface TripStreamOptions {
  /** Any text; the same seed gives the same cells in the same order. */
  readonly seed: string;
  /** How many trips, from 0. */
  readonly trips: number;
  /** @default 'usual', about 2 KB a trip */
  readonly size?: TripSize | undefined;
}

/**
 * The cells of a number of trips in the order they come to be written: those of neighbouring trips mixed, notes and
 * adjustments up to a week (some 2000 trips) behind their BASE cell, and now and then before it.
 *
 * @example
 * for (const cell of tripStream({ seed: '1', trips: 2000 })) await store.put(cell);
 */
export function* tripStream({ seed, trips, size = 'usual' }: TripStreamOptions): Generator<NewCell, void> {
  const due = new DueCells();
  for (let n = 0; n <= trips; n += 1) {
    // No cell of this trip or a later one is written before this time, so everything up to it can go.
    const now = n === trips ? Number.POSITIVE_INFINITY : requestTime(n);
    for (let timed = due.take(now); timed !== undefined; timed = due.take(now)) yield timed.cell;
    if (n < trips) for (const timed of tripCells(seed, n, size)) due.add(timed);
  }
}
