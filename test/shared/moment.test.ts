import { afterEach, describe, expect, it, vi } from 'vitest';
import { ageOf, moment } from '../../shared/time.ts';

afterEach(() => vi.restoreAllMocks());

/** A clock that was so much further when it was last looked at. */
function passed(steadyMs: number, wallMs: number): number {
  const at = moment();
  vi.spyOn(performance, 'now').mockReturnValue(at.steady + steadyMs);
  vi.spyOn(Date, 'now').mockReturnValue(at.wall + wallMs);
  return ageOf(at);
}

describe('the age of what is cached', () => {
  it.each([
    ['goes by both clocks', 5000, 5000, 5000],
    ['goes on while an instance is suspended and its steady clock stands still', 10, 3_600_000, 3_600_000],
    ['goes on when the wall clock is set back', 5000, -3_600_000, 5000],
  ])('%s', (_what, steadyMs, wallMs, age) => {
    // Doubles: how exact the difference is depends on how long the process has lived.
    expect(passed(steadyMs, wallMs)).toBeCloseTo(age, 6);
  });
});
