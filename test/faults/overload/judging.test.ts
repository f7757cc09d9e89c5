import { expect, test } from 'vitest';
import { goodput, latencyP99, secondsUntilCalm, type AnsweredPut } from './answered-puts.ts';

const put = (dueAt: number, latency: number, accepted = true): AnsweredPut => ({
  dueAt,
  endedAt: dueAt + latency,
  accepted,
});
/** One put every 10 ms from a time to another. */
const series = (from: number, to: number, latency: number): AnsweredPut[] =>
  Array.from({ length: (to - from) / 10 }, (_, position) => put(from + position * 10, latency));

test('goodput counts what was accepted, by when it ended', () => {
  expect(goodput([put(0, 50), put(900, 50), put(960, 50), put(0, 500, false)], 0, 1000)).toBe(2);
  expect(goodput([put(0, 1999), put(0, 2000)], 1000, 2000)).toBe(1);
});

test('a put that was not accepted took for ever', () => {
  expect(latencyP99([put(0, 5), put(0, 5, false)])).toBe(Number.POSITIVE_INFINITY);
});

test('it is calm once the latency stays low for three seconds', () => {
  expect(secondsUntilCalm(series(0, 5000, 50), 100, 0, 5000)).toBe(0);
  expect(secondsUntilCalm([...series(0, 1000, 500), ...series(1000, 6000, 50)], 100, 0, 6000)).toBe(1);
  // Slow again before the three seconds are over.
  expect(
    secondsUntilCalm([...series(0, 2000, 50), ...series(2000, 3000, 500), ...series(3000, 8000, 50)], 100, 0, 8000),
  ).toBe(3);
  expect(secondsUntilCalm(series(0, 5000, 500), 100, 0, 5000)).toBeUndefined();
  // Not observed for long enough.
  expect(secondsUntilCalm([...series(0, 3000, 500), ...series(3000, 5000, 50)], 100, 0, 5000)).toBeUndefined();
});
