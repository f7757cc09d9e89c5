import type { NewCell } from '../../../shared/cell.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';

/** How often earlier cells are written again. */
export interface Mix {
  /** Share of the writes that are batches: cells of one row, the last of them a repeat. */
  readonly batchShare: number;
  readonly batchSize: number;
  /** Share of the writes that are transactions of new cells. @default 0 */
  readonly transactionShare?: number;
  /** Share of the single writes that are repeats: of an earlier cell, or of the same one at the same moment. */
  readonly repeatShare: number;
}

/** About one cell in ten is a repeat. */
export const BATCHES_AND_REPEATS: Mix = { batchShare: 0.2, batchSize: 10, transactionShare: 0.2, repeatShare: 0.05 };
/** Puts of new cells: a cell that is lost for a moment is rightly `stored` again when its writer repeats it. */
export const NEW_CELLS: Mix = { batchShare: 0, batchSize: 1, repeatShare: 0 };

/** One call of a writer. `batched` are puts of the same cell sent at once. */
export type Write =
  | { readonly kind: 'put'; readonly cell: NewCell }
  | { readonly kind: 'batched'; readonly cell: NewCell }
  | { readonly kind: 'batch'; readonly cells: readonly NewCell[] }
  | { readonly kind: 'transaction'; readonly cells: readonly NewCell[] };

/** The number of earlier cells remembered for repeats. */
const REMEMBERED = 500;

/** Generates the writes of one writer: new cells, and old ones again. */
export class CellSource {
  readonly #random: Random;
  readonly #writer: number;
  readonly #mix: Mix;
  readonly #earlier: NewCell[] = [];
  #number = 0;

  constructor(seed: string, writer: number, mix: Mix) {
    this.#random = new Random(seed, 'cells', writer);
    this.#writer = writer;
    this.#mix = mix;
  }

  next(): Write {
    const { batchShare, batchSize, transactionShare = 0, repeatShare } = this.#mix;
    if (transactionShare > 0 && this.#random.chance(transactionShare)) {
      const row = randomRowKey(this.#random);
      const cells = Array.from({ length: this.#random.integer(2, 5) }, () => this.#fresh(row));
      return { kind: 'transaction', cells };
    }
    if (this.#random.chance(batchShare)) return { kind: 'batch', cells: this.#batch(batchSize) };
    if (!this.#random.chance(repeatShare)) return { kind: 'put', cell: this.#fresh() };
    const again = this.#random.chance(0.5) ? this.#again() : undefined;
    return again ? { kind: 'put', cell: again } : { kind: 'batched', cell: this.#fresh() };
  }

  #batch(size: number): readonly NewCell[] {
    const row = randomRowKey(this.#random);
    const cells = Array.from({ length: size - 1 }, () => this.#fresh(row));
    const again = this.#random.chance(0.5) ? this.#again() : undefined;
    return [...cells, again ?? (cells[0] as NewCell)];
  }

  #fresh(row = randomRowKey(this.#random)): NewCell {
    this.#number += 1;
    const cell: NewCell = {
      row_key: row,
      column_name: this.#random.pick(['BASE', 'STATUS', 'NOTES', 'FARE ADJUSTMENT']),
      ref_key: this.#number,
      body: { writer: this.#writer, number: this.#number, note: 'n'.repeat(this.#random.integer(0, 120)) },
    };
    this.#earlier[this.#number % REMEMBERED] = cell;
    return cell;
  }

  #again(): NewCell | undefined {
    return this.#earlier[this.#random.integer(0, REMEMBERED - 1)];
  }
}

/** The number of addresses that are hot at a time, and for how long: each other body then meets a stored cell. */
const HOT = 8;
const HOT_MS = 400;
/**
 * The number of earlier times whose hot addresses are written again: other bodies meet cells lost with a disk at once.
 */
const REMEMBERED_TIMES = 15;
const COLD = 20_000;
/** Bodies of one address: few, so that writers also write equal ones. */
const BODIES = 6;

/**
 * Generates the writes of one writer: all of a seed contend for the same addresses, with different and equal bodies.
 */
export class ContestedCells {
  readonly #random: Random;
  readonly #seed: string;
  readonly #since: number;

  /** @param since by `Date.now()`, the same for all writers */
  constructor(seed: string, writer: number, since: number) {
    this.#random = new Random(seed, 'contested cells', writer);
    this.#seed = seed;
    this.#since = since;
  }

  next(): Write {
    return { kind: 'put', cell: this.#next() };
  }

  #next(): NewCell {
    const draw = this.#random.next();
    if (draw < 0.2) return this.#cell('cold', this.#random.integer(0, COLD - 1));
    const now = Math.floor((Date.now() - this.#since) / HOT_MS);
    const time = draw < 0.55 ? now : Math.max(0, now - this.#random.integer(1, REMEMBERED_TIMES));
    return this.#cell('hot', time * HOT + this.#random.integer(0, HOT - 1));
  }

  #cell(kind: string, number: number): NewCell {
    return {
      row_key: randomRowKey(new Random(this.#seed, `${kind} rows`, number)),
      column_name: 'BASE',
      ref_key: 1,
      body: { kind, number, body: this.#random.integer(1, BODIES) },
    };
  }
}
