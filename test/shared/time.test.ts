import { afterEach, describe, expect, it, vi } from 'vitest';
import { toFieldValue } from '../../shared/definitions/field-value.ts';
import { ageOf, moment } from '../../shared/time.ts';

afterEach(() => vi.restoreAllMocks());

/** A clock that was so much further at its last reading. */
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
    ['goes on when the wall clock moves backwards', 5000, -3_600_000, 5000],
  ])('%s', (_what, steadyMs, wallMs, age) => {
    // Doubles: how exact the difference is depends on how long the process has lived.
    expect(passed(steadyMs, wallMs)).toBeCloseTo(age, 6);
  });
});

it.each([
  ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.999999Z'],
  ['2015-06-30T23:59:60.123Z', '2015-06-30T23:59:59.999999Z'],
  ['1990-12-31T15:59:60-08:00', '1990-12-31T23:59:59.999999Z'],
  ['2017-01-01T05:29:60+05:30', '2016-12-31T23:59:59.999999Z'],
  ['2016-02-29 23:59:60z', '2016-02-29T23:59:59.999999Z'],
  ['2016-12-30T23:59:60Z', undefined],
  ['2016-12-31T23:59:60-08:00', undefined],
  ['2016-12-31T23:58:60Z', undefined],
  ['2016-12-31T23:59:61Z', undefined],
  ['9999-12-31T23:59:60Z', '9999-12-31T23:59:59.999999Z'],
])('an index field has the leap second %s at the end of its month: %s', (text, wanted) => {
  expect(toFieldValue(text, 'datetime')).toBe(wanted);
});
