import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { adaptivePause, lastSlowPoll, untilMultiple, type PassEnd, type Pauses } from '../../../shared/follow/pace.ts';

describe('the pause', () => {
  const pausesOf = (ends: readonly PassEnd[], pauses: Pauses = { leastMs: 10, mostMs: 100 }): number[] => {
    const pause = adaptivePause(pauses);
    return ends.map((end) => pause(end));
  };

  it('is none behind a full page, short while cells come, and grows while what should be read cannot be', () => {
    expect(
      pausesOf(['some', 'full', 'none', 'some', 'failed', 'failed', 'failed', 'failed', 'failed', 'some']),
    ).toEqual([10, 0, 10, 10, 20, 40, 80, 100, 100, 10]);
    expect(pausesOf(['some', 'none', 'none'], { leastMs: 0 })).toEqual([0, 1, 1]);
  });

  it.each([
    [1 / 4, {}],
    [1 / 64, { shareOfQuiet: 1 / 64 }],
  ])(
    'is at most a share of the time for which nothing has come (%d), and comes to its most in the end',
    (share, more) => {
      const pauses = pausesOf(['some', ...Array.from({ length: 600 }, () => 'none' as const)], {
        leastMs: 10,
        mostMs: 100,
        ...more,
      });
      let quiet = 0;
      for (const pause of pauses) {
        quiet += pause;
        expect(pause).toBeLessThanOrEqual(Math.max(10, quiet * share));
      }
      expect(pauses.at(-1)).toBe(100);
      expect(new Set(pauses)).toEqual(new Set([10, 20, 40, 80, 100]));
    },
  );

  it('doubles with each pass of a new run to which nothing has come', () => {
    expect(pausesOf(['none', 'none', 'none', 'none', 'some', 'none'])).toEqual([20, 40, 80, 100, 10, 10]);
  });
});

describe('passes and slow polls', () => {
  const PAUSES = { leastMs: 80, mostMs: 640 };

  it('are aligned: a pause ends at a multiple of its length, a quarter to one and a quarter of it later', () => {
    for (let now = 0; now < 1000; now += 0.7) {
      const wait = untilMultiple(100, now);
      expect(wait).toBeGreaterThanOrEqual(25);
      expect(wait).toBeLessThanOrEqual(126);
      expect((now + wait) % 100).toBeLessThan(1.001);
    }
    // A timer that came a millisecond early has served its multiple.
    expect(untilMultiple(100, 299.2)).toBe(101);
    expect(untilMultiple(0, 12)).toBe(0);
  });

  it('poll each shard once in ten seconds, and find it due in the same pass whichever of them begins later', () => {
    const late = fc.double({ min: 0, max: 39, noNaN: true });
    const passes = fc.integer({ min: 1, max: 100_000 }).map((multiple) => multiple * PAUSES.leastMs);
    fc.assert(
      fc.property(passes, late, late, (pass, one, other) => {
        const last = lastSlowPoll(PAUSES, pass + one);
        expect(last).toBe(lastSlowPoll(PAUSES, pass + other));
        expect(pass - last).toBeLessThan(10_000);
        expect(lastSlowPoll(PAUSES, last + 9600)).toBeCloseTo(last + 9600, 3);
        expect(lastSlowPoll(PAUSES, last + 9599)).toBeCloseTo(last, 3);
      }),
    );
  });
});
