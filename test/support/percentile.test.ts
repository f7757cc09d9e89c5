import { expect, it } from 'vitest';
import { percentile } from './percentile.ts';

const values = Array.from({ length: 1000 }, (_, position) => 1000 - position);

it('is the least value that so many do not exceed', () => {
  expect([0, 0.5, 0.99, 0.999, 1].map((share) => percentile(values, share))).toEqual([1, 500, 990, 999, 1000]);
});

it('of few values is one of them, the longest where a share asks for more than there are', () => {
  expect([0.5, 0.99, 0.999].map((share) => percentile([3, 1, 2], share))).toEqual([2, 3, 3]);
  expect(percentile([], 0.5)).toBeNaN();
});

it('takes what was never answered for the longest', () => {
  const some = [...values.slice(0, 99), Number.POSITIVE_INFINITY];
  expect(percentile(some, 0.99)).toBe(1000);
  expect(percentile(some, 0.999)).toBe(Number.POSITIVE_INFINITY);
});
