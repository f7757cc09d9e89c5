import { expect, it } from 'vitest';
import { pollPauses } from '../../../shared/drain/run-drain.ts';

it('polls are a second apart, or a twentieth of the time where they take long, which a single one does not prove', () => {
  const pauseAfter = pollPauses();
  const pauses = [900, 3, 4, 2000, 5, 300, 400, 2000, 2100, 10].map((took) => pauseAfter(took));
  expect(pauses).toEqual([1000, 1000, 1000, 1000, 1000, 1000, 6000, 8000, 40_000, 1000]);
});

it('polls are up to four seconds apart while nothing waits, and a second apart once something does', () => {
  const pauseAfter = pollPauses();
  const idle = [true, true, true, false, true];
  expect(idle.map((isIdle) => pauseAfter(3, isIdle))).toEqual([2000, 4000, 4000, 1000, 2000]);
});
