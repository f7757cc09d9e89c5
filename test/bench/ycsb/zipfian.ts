import { crc32 } from 'node:zlib';
import type { Random } from '../../support/random.ts';

/** How skewed: the paper's constant. */
const THETA = 0.99;
const ALPHA = 1 / (1 - THETA);
/** Of two ranks. */
const ZETA_2 = 1 + 0.5 ** THETA;
/**
 * What YCSB draws from before it scatters, whatever the number of records, and the sum over so many ranks, which it has
 * as a constant, too.
 */
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

/** Numbers of records, some far likelier than others, and those scattered over all of them. */
export interface ScatteredZipfian {
  /** One of the numbers below a count, which may grow: those that are popular stay so. */
  draw(random: Random, count: number): number;
  /** How much of all draws the likeliest number gets, 0 to 1, by the law. */
  hottestShare(count: number): number;
}

/** Ranks whose shares are added up one by one; all others together are spread evenly. */
const HOT_RANKS = 100_000;

/**
 * Scatters over as many numbers as there are ever to be, and draws again where there is no such record yet, as YCSB
 * does: a modulus that grew with the records would give the popular ranks another number after each insert.
 *
 * @param most numbers, now and after the inserts to come; those beyond it are never drawn
 */
export function scatteredZipfian(most: number): ScatteredZipfian {
  const ranks = new Zipfian(SCATTERED_RANKS, SCATTERED_ZETA);
  const scattered = (rank: number): number => crc32(String(rank)) % most;
  return {
    draw(random, count) {
      for (;;) {
        const number = scattered(ranks.next(random));
        if (number < count) return number;
      }
    },
    hottestShare(count) {
      const there = Math.min(count, most);
      const shares = new Map<number, number>();
      let [taken, cold] = [0, 1];
      for (let rank = 0; rank < HOT_RANKS; rank += 1) {
        const share = 1 / (rank + 1) ** THETA / SCATTERED_ZETA;
        cold -= share;
        const number = scattered(rank);
        if (number >= there) continue;
        taken += share;
        shares.set(number, (shares.get(number) ?? 0) + share);
      }
      const hottest = [...shares.values()].reduce((highest, share) => Math.max(highest, share), 0);
      return (hottest + cold / most) / (taken + (cold * there) / most);
    },
  };
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
