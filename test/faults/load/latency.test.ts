import { expect, it } from 'vitest';
import { begunIn, latencyLine, type Timed } from './latency.ts';

const writes = Array.from({ length: 200 }, (_, position): Timed => ({
  begun: 1000 + position,
  milliseconds: 200 - position,
  shard: position % 2,
}));

it('the latencies of writes are told in a line', () => {
  expect(latencyLine(writes)).toBe('p50 100.0, p99 198.0 ms of 200');
});

it('writes are selected by the time of their start and by shard', () => {
  expect(begunIn(writes, { from: 1010, to: 1020 })).toHaveLength(10);
  expect(begunIn(writes, { from: 1010, to: 1020 }, new Set([1])).map(({ begun }) => begun)).toEqual([
    1011, 1013, 1015, 1017, 1019,
  ]);
});
