import { describe, expect, it } from 'vitest';
import { openArrivals } from '../../../shared/drain/arrivals.ts';

describe('the age of rows', () => {
  it('counts from the first poll that saw their id, by the clock of the poller', () => {
    let now = 0;
    const arrivals = openArrivals([], () => now);
    for (let second = 0; second <= 10; second += 1) {
      now = second * 1000;
      arrivals.note(second * 100);
    }
    expect([arrivals.idAt(0), arrivals.idAt(2000), arrivals.idAt(60_000)]).toEqual([1000, 800, 0]);
    expect([arrivals.ageOf(1000), arrivals.ageOf(801), arrivals.ageOf(0)]).toEqual([0, 1000, 10_000]);
    expect([arrivals.sawComing(0), arrivals.sawComing(1)]).toEqual([false, true]);
  });

  it('is handed over, and kept coarsely for hours in little room', () => {
    let now = 0;
    const first = openArrivals([], () => now);
    for (let second = 0; second < 7200; second += 1) {
      now = second * 1000;
      first.note(second);
    }
    expect(first.saved().length).toBeLessThanOrEqual(65);
    const saved = JSON.parse(JSON.stringify(first.saved())) as ReturnType<typeof first.saved>;
    now = 5_000_000_000;
    const next = openArrivals(saved, () => now);
    expect(next.ageOf(0)).toBe(7_199_000);
    expect(Math.abs(next.ageOf(3600) / 1000 - 3600)).toBeLessThan(600);
    expect(next.idAt(2000)).toBe(7197);
  });

  it('restarts at zero where ids went back, since other rows have them now', () => {
    let now = 0;
    const arrivals = openArrivals([], () => now);
    arrivals.note(500);
    now = 10_000;
    arrivals.note(300);
    expect([arrivals.idAt(2000), arrivals.ageOf(300)]).toEqual([0, 0]);
  });
});
