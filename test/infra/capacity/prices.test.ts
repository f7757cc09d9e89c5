import { describe, expect, it } from 'vitest';
import { costOf, PRICES, type Price } from '../../../infra/capacity/prices.ts';

const steps: Price = {
  unit: 'thing',
  source: 'page',
  tiers: [
    { above: 0, usd: 2 },
    { above: 10, usd: 1 },
    { above: 30, usd: 0.5 },
  ],
};

describe('a price', () => {
  it('charges each unit by the tier that it lies in', () => {
    expect([0, 4, 10, 12, 30, 40].map((units) => costOf(steps, units))).toEqual([0, 8, 20, 22, 40, 45]);
  });

  it('begins at the first unit, goes down with each tier, and is never nothing', () => {
    for (const { tiers, unit } of Object.values<Price>(PRICES)) {
      expect(tiers[0]?.above, unit).toBe(0);
      for (const [position, { above, usd }] of tiers.entries()) {
        expect(usd, unit).toBeGreaterThan(0);
        const before = tiers[position - 1];
        if (before) expect(above > before.above && usd < before.usd, unit).toBe(true);
      }
    }
  });
});
