import type { NewCell } from '../../../shared/cell.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import type { Write } from './cell-source.ts';

/** Addresses that are hot at the same time, and for how long: once a cell is stored, every other body meets it. */
const HOT = 8;
const HOT_MS = 400;
/**
 * Hot addresses of the last so many times are written again: what a lost disk took is met with other bodies at once.
 */
const REMEMBERED_TIMES = 15;
const COLD = 20_000;
/** Bodies of one address: few, so that writers also write equal ones. */
const BODIES = 6;

/**
 * What one writer writes: all writers of a seed contend for the same addresses, with different and with equal bodies.
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
