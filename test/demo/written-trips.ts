import type { NewCell } from '../../shared/cell.ts';
import type { TripSize } from './trips/journey.ts';
import { tripStream } from './trips/stream.ts';
import { tripCells, tripRowKey } from './trips/trip.ts';

/** The trips of one run. Their cells are made again each time they are asked for, so a run needs little memory. */
export class WrittenTrips implements Iterable<NewCell> {
  readonly #seed: string;
  readonly #trips: number;
  readonly #size: TripSize;
  readonly #numbers = new Map<string, number>();

  constructor(seed: string, trips: number, size: TripSize) {
    this.#seed = seed;
    this.#trips = trips;
    this.#size = size;
    for (let n = 0; n < trips; n += 1) this.#numbers.set(tripRowKey(seed, n, size), n);
  }

  /** All cells, in the order in which they are written. */
  [Symbol.iterator](): Generator<NewCell, void> {
    return tripStream({ seed: this.#seed, trips: this.#trips, size: this.#size });
  }

  /** Every cell of a row, or undefined when it is no trip of this run. */
  cellsOf(rowKey: string): readonly NewCell[] | undefined {
    const n = this.#numbers.get(rowKey);
    return n === undefined ? undefined : tripCells(this.#seed, n, this.#size).map(({ cell }) => cell);
  }

  /** The latest BASE cell of each row. */
  *bases(): Generator<NewCell, void> {
    for (const cell of this.latest()) if (cell.column_name === 'BASE') yield cell;
  }

  /** The cells of each column of each row, lowest ref key first. */
  *columns(): Generator<readonly NewCell[], void> {
    for (const n of this.#numbers.values()) {
      const columns = Map.groupBy(tripCells(this.#seed, n, this.#size), ({ cell }) => cell.column_name);
      for (const timed of columns.values()) yield timed.map(({ cell }) => cell);
    }
  }

  /** The latest cell of each column of each row. */
  *latest(): Generator<NewCell, void> {
    for (const cells of this.columns()) {
      const last = cells.at(-1);
      if (last !== undefined) yield last;
    }
  }
}
