import type { CellAddress, NewCell, PutResult, Role } from '../../shared/cell.ts';
import { addressText } from './differences.ts';
import type { TripSize } from '../support/trips/journey.ts';
import { tripStream } from '../support/trips/stream.ts';
import { tripCells, tripRowKey } from '../support/trips/trip.ts';

type Outcome = PutResult['outcome'];

/**
 * The trips of one run, and what became of their puts. Their cells are made again each time they are asked for, so a
 * run needs little memory.
 */
export class WrittenTrips {
  readonly #seed: string;
  readonly #trips: number;
  readonly #size: TripSize;
  readonly #numbers = new Map<string, number>();
  /** Of the cells that a put did not store. */
  readonly #outcomes = new Map<string, Outcome>();

  constructor(seed: string, trips: number, size: TripSize) {
    this.#seed = seed;
    this.#trips = trips;
    this.#size = size;
    for (let n = 0; n < trips; n += 1) this.#numbers.set(tripRowKey(seed, n, size), n);
  }

  toWrite(): Generator<NewCell, void> {
    return tripStream({ seed: this.#seed, trips: this.#trips, size: this.#size });
  }

  /** A cell's put was answered. */
  note(cell: CellAddress, outcome: Outcome): void {
    if (outcome !== 'stored' && outcome !== 'stored_before') this.#outcomes.set(addressText(cell), outcome);
  }

  /** How a cell's put was answered; `stored` also where it was there before. */
  outcomeOf(cell: CellAddress): Outcome {
    return this.#outcomes.get(addressText(cell)) ?? 'stored';
  }

  *acknowledged(): Generator<NewCell, void> {
    for (const cell of this.toWrite()) if (this.#isAcknowledged(cell)) yield cell;
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

  /**
   * The cells of each column of each row, lowest ref key first; without columns of which not all was acknowledged,
   * which may be there or not.
   */
  *columns(): Generator<readonly NewCell[], void> {
    for (const n of this.#numbers.values()) {
      const columns = Map.groupBy(tripCells(this.#seed, n, this.#size), ({ cell }) => cell.column_name);
      for (const timed of columns.values()) {
        const cells = timed.map(({ cell }) => cell);
        if (cells.every((cell) => this.#isAcknowledged(cell))) yield cells;
      }
    }
  }

  *latest(): Generator<NewCell, void> {
    for (const cells of this.columns()) {
      const last = cells.at(-1);
      if (last !== undefined) yield last;
    }
  }

  #isAcknowledged(cell: CellAddress): boolean {
    const outcome = this.outcomeOf(cell);
    return outcome !== 'conflict' && outcome !== 'unavailable';
  }
}

/** Behind what is wrong with a cell: "(asked the writer; its put was answered buffered)". */
export function askedText(read: Role, outcome: Outcome): string {
  return `(asked the ${read}${outcome === 'buffered' ? '; its put was answered buffered' : ''})`;
}
