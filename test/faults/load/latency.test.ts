import { expect, it } from 'vitest';
import { begunIn, latencyLine, percentile, type Timed } from './latency.ts';

const writes = Array.from({ length: 200 }, (_, position): Timed => ({
  begun: 1000 + position,
  milliseconds: 200 - position,
  shard: position % 2,
}));

it('a percentile is the time under which so many were answered', () => {
  expect([0, 0.5, 0.99, 1].map((share) => percentile(writes, share))).toEqual([1, 100, 198, 200]);
  expect(percentile([], 0.99)).toBeNaN();
  expect(latencyLine(writes)).toBe('p50 100.0, p99 198.0 ms of 200');
});

it('writes are of the time in which they were sent, and of their shards', () => {
  expect(begunIn(writes, { from: 1010, to: 1020 })).toHaveLength(10);
  expect(begunIn(writes, { from: 1010, to: 1020 }, new Set([1])).map(({ begun }) => begun)).toEqual([
    1011, 1013, 1015, 1017, 1019,
  ]);
});
