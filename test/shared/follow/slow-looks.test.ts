import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slowLooksOf } from '../../../shared/follow/slow-looks.ts';

const PAUSES = { leastMs: 80, mostMs: 640 };
const lookAt = slowLooksOf(PAUSES);
const shard = fc.nat(4095);
const held = fc.integer({ min: 1, max: 4096 });

describe('moments at which shards are looked at that did not ring', () => {
  it('come for each shard once in ten seconds, and are past', () => {
    fc.assert(
      fc.property(shard, held, fc.double({ min: 0, max: 1e7, noNaN: true }), (one, all, now) => {
        const last = lookAt(one, all, now);
        expect(last).toBeLessThanOrEqual(now);
        expect(now - last).toBeLessThan(10_000);
        const next = last + 9600;
        expect(lookAt(one, all, next + 0.001)).toBeCloseTo(next, 3);
        expect(lookAt(one, all, next - 0.001)).toBeCloseTo(last, 3);
      }),
    );
  });

  // Two followers never look at the clock in the same millisecond.
  it('lie where no pass begins, however much later than another it does', () => {
    const passes = fc.integer({ min: 1, max: 100_000 }).map((multiple) => multiple * PAUSES.leastMs);
    const lateMs = fc.double({ min: 0, max: 39, noNaN: true });
    fc.assert(
      fc.property(shard, held, passes, lateMs, lateMs, (one, all, pass, late, later) => {
        expect(lookAt(one, all, pass + late)).toBe(lookAt(one, all, pass + later));
      }),
    );
  });

  it.each([
    [21, 1],
    [64, 1],
    [340, 5],
    // No more than there are passes.
    [1365, 15],
  ])('of %i shards are %i, of nearly the same number each', (all, moments) => {
    // A group's are any third of a datastore's.
    const shards = Array.from({ length: all }, (_, position) => position * 3 + 1);
    const sizes = [...Map.groupBy(shards, (one) => lookAt(one, all, 1e6)).values()].map((some) => some.length);
    expect(sizes).toHaveLength(moments);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(3);
  });
});
