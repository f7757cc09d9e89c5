import { expect, it } from 'vitest';
import { backlogBySecond, courseOf, lagsOf, type Triggered } from './backlog.ts';

/** One cell a tenth of a second. @param lagOf of the nth */
const cells = (seconds: number, lagOf: (n: number) => number | undefined): readonly Triggered[] =>
  Array.from({ length: seconds * 10 }, (_, n) => {
    const lag = lagOf(n);
    return { answeredAt: n * 100, startedAt: lag === undefined ? undefined : n * 100 + lag };
  });

it('a lag is from the answer to the start, none when that came first, and for ever without one', () => {
  expect(lagsOf(cells(1, (n) => [5, -3, undefined][n])).slice(0, 3)).toEqual([5, 0, Number.POSITIVE_INFINITY]);
});

it('counts what is answered and not started at each second', () => {
  const from = 0;
  const [quick, never] = [cells(4, () => 50), cells(3, () => undefined)];
  expect(backlogBySecond(quick, { from, to: 4000 })).toEqual([1, 1, 1, 0]);
  expect(backlogBySecond(never, { from, to: 3000 })).toEqual([11, 21, 30]);
  expect(backlogBySecond([], { from, to: 2500 })).toEqual([0, 0]);
});

it('a backlog that stays is flat, one that grows with the time is not', () => {
  const course = (lagOf: (n: number) => number): boolean =>
    courseOf(backlogBySecond(cells(60, lagOf), { from: 0, to: 60_000 }), 10).isFlat;
  expect(course(() => 50)).toBe(true);
  expect(course(() => 3000)).toBe(true);
  // One in ten more than is worked off.
  expect(course((n) => n * 10)).toBe(false);
});
