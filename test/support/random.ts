/**
 * Numbers that look random and are always the same for the same seed: sfc32, started from a hash of the names given.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /**
   * @param seed any text
   * @param purpose of the numbers, so that drawing more of them for one purpose changes no other
   * @param index which one, for instance the trip's number
   */
  constructor(seed: string, purpose: string, index: number) {
    this.#a = hash(seed, 0x811c9dc5);
    this.#b = hash(purpose, 0x9e3779b9);
    this.#c = index | 0;
    for (let round = 0; round < 12; round += 1) this.next();
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  }

  /** An integer from `lowest` to `highest`, both included. */
  integer(lowest: number, highest: number): number {
    return lowest + Math.floor(this.next() * (highest - lowest + 1));
  }

  between(lowest: number, highest: number): number {
    return lowest + this.next() * (highest - lowest);
  }

  /** True in `share` of all cases (0 to 1). */
  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.next() * items.length)] ?? items[0];
  }

  /** Of `count` ranks from 0: low ones often, high ones seldom. The first 1 % of the ranks get 10 % of the draws. */
  skewedRank(count: number): number {
    return Math.floor(count * this.next() ** 2);
  }

  /** Lognormal: half of all values are below `median`; the mean is `median * exp(sigma² / 2)`. */
  lognormal(median: number, sigma: number): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return median * Math.exp(sigma * radius * Math.cos(2 * Math.PI * this.next()));
  }
}

/** FNV-1a over UTF-16 units: quick, and spreads short names well. */
function hash(text: string, start: number): number {
  let value = start;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value;
}
