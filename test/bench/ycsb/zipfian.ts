import { crc32 } from 'node:zlib';
import type { Random } from '../../demo/trips/random.ts';

/** How skewed: the paper's constant. */
const THETA = 0.99;
const ALPHA = 1 / (1 - THETA);
/** Of two ranks. */
const ZETA_2 = 1 + 0.5 ** THETA;
/** What YCSB draws from before it scatters, whatever the number of records, and the sum over so many ranks, which it has as a constant, too. */
const SCATTERED_RANKS = 10_000_000_000;
const SCATTERED_ZETA = 26.46902820178302;

/**
 * Ranks from 0, the lower the likelier, by a Zipfian law: J. Gray et al., "Quickly Generating Billion-Record Synthetic
 * Databases", SIGMOD 1994.
 */
export class Zipfian {
  #ranks: number;
  /** The sum of 1 / rank^theta. */
  #zeta: number;

  /** @param zeta where it takes too long to add up. @default it is added up */
  constructor(ranks: number, zeta?: number) {
    this.#ranks = zeta === undefined ? 0 : ranks;
    this.#zeta = zeta ?? 0;
    this.growTo(ranks);
  }

  growTo(ranks: number): void {
    while (this.#ranks < ranks) {
      this.#ranks += 1;
      this.#zeta += 1 / this.#ranks ** THETA;
    }
  }

  next(random: Random): number {
    const uniform = random.next();
    const scaled = uniform * this.#zeta;
    if (scaled < 1) return 0;
    if (scaled < ZETA_2) return 1;
    const eta = (1 - (2 / this.#ranks) ** (1 - THETA)) / (1 - ZETA_2 / this.#zeta);
    return Math.min(this.#ranks - 1, Math.floor(this.#ranks * (eta * uniform - eta + 1) ** ALPHA));
  }
}

/** Numbers below a count, some far likelier than others, and those scattered over all of them. */
export function scatteredZipfian(): (random: Random, count: number) => number {
  const ranks = new Zipfian(SCATTERED_RANKS, SCATTERED_ZETA);
  return (random, count) => crc32(String(ranks.next(random))) % count;
}

/** Numbers below a count that grows, the highest likeliest. */
export function latestZipfian(): (random: Random, count: number) => number {
  let ranks: Zipfian | undefined;
  return (random, count) => {
    ranks ??= new Zipfian(count);
    ranks.growTo(count);
    return count - 1 - ranks.next(random);
  };
}
