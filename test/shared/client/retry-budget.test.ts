import { describe, expect, it } from 'vitest';
import { retryBudget } from '../../../shared/client/retry-budget.ts';

describe('the retry budget', () => {
  it('lets a caller who asks rarely repeat, and one who asks much no more than his share', () => {
    const budget = retryBudget(0.1, () => 0);
    const spent = (tries: number): number => Array.from({ length: tries }, () => budget.spend()).filter(Boolean).length;
    expect(spent(5)).toBe(5);
    expect(spent(100)).toBe(15);
    for (let request = 0; request < 1000; request += 1) {
      budget.earn();
      if (request % 100 === 99) expect(Math.round(spent(100) / 2)).toBe(5);
    }
  });

  it('comes back with time', () => {
    let time = 0;
    const budget = retryBudget(0, () => time);
    while (budget.spend());
    expect(budget.spend()).toBe(false);
    time = 1000;
    expect([budget.spend(), budget.spend(), budget.spend()]).toEqual([true, true, false]);
  });

  it('is no bound where it is switched off', () => {
    const budget = retryBudget(false);
    expect(Array.from({ length: 1000 }, () => budget.spend()).every(Boolean)).toBe(true);
  });
});
