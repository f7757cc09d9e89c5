import { describe, expect, it } from 'vitest';
import { Random } from '../../support/random.ts';
import { latestZipfian, scatteredZipfian } from './zipfian.ts';

const [RECORDS, EXPECTED_INSERTS] = [100_000, 20_000];
const DRAWS = 400_000;
/** Of the paper's constant over 10^10 ranks: what YCSB's most popular record gets. */
const FIRST_RANK = 1 / 26.469;
const DRAWS_AN_INSERT = 20;

/** How often each number was drawn, most often first, while every so many draws there is one record more. */
function drawn(
  most: number,
  drawsAnInsert: number,
): { readonly shares: readonly (readonly [number, number])[]; readonly count: number } {
  const { draw } = scatteredZipfian(most);
  const random = new Random('test', 'zipfian', 1);
  const times = new Map<number, number>();
  let count = RECORDS;
  for (let at = 1; at <= DRAWS; at += 1) {
    if (at % drawsAnInsert === 0) count += 1;
    const number = draw(random, count);
    times.set(number, (times.get(number) ?? 0) + 1);
  }
  return {
    shares: [...times]
      .map(([number, drawnTimes]) => [number, drawnTimes / DRAWS] as const)
      .sort(([, one], [, other]) => other - one),
    count,
  };
}

describe('scatteredZipfian', () => {
  it('gives the hottest record its share, and says which', () => {
    const { shares } = drawn(RECORDS, Number.POSITIVE_INFINITY);
    const { hottestShare } = scatteredZipfian(RECORDS);
    expect(hottestShare(RECORDS) / FIRST_RANK).toBeCloseTo(1, 2);
    expect((shares[0]?.[1] ?? 0) / hottestShare(RECORDS)).toBeCloseTo(1, 1);
  });

  it('keeps the popular records popular while others are inserted', () => {
    const before = drawn(RECORDS + EXPECTED_INSERTS, Number.POSITIVE_INFINITY);
    const meanwhile = drawn(RECORDS + EXPECTED_INSERTS, DRAWS_AN_INSERT);
    expect(meanwhile.count).toBe(RECORDS + DRAWS / DRAWS_AN_INSERT);
    const { hottestShare } = scatteredZipfian(RECORDS + EXPECTED_INSERTS);
    expect((meanwhile.shares[0]?.[1] ?? 0) / hottestShare((RECORDS + meanwhile.count) / 2)).toBeCloseTo(1, 1);
    const hottest = (shares: readonly (readonly [number, number])[]): readonly number[] =>
      shares.slice(0, 3).map(([number]) => number);
    expect(hottest(meanwhile.shares)).toEqual(hottest(before.shares));
  });

  it('has the most popular record among those that are there from the start', () => {
    const { hottestShare } = scatteredZipfian(RECORDS + EXPECTED_INSERTS);
    expect(hottestShare(RECORDS)).toBeGreaterThan(FIRST_RANK);
    // What is drawn again goes to those that are there: a fifth of the draws at most.
    expect(hottestShare(RECORDS)).toBeLessThan(FIRST_RANK * 1.25);
  });
});

describe('latestZipfian', () => {
  it('draws the newest record most', () => {
    const draw = latestZipfian();
    const random = new Random('test', 'latest', 1);
    const ages = Array.from({ length: 50_000 }, (_, at) => RECORDS + at - 1 - draw(random, RECORDS + at));
    const newest = ages.filter((age) => age === 0).length / ages.length;
    // 1 / the sum of 1 / rank^0.99 over the records.
    expect(newest).toBeGreaterThan(0.07);
    expect(newest).toBeLessThan(0.09);
  });
});
