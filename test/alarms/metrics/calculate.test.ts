import { expect, it } from 'vitest';
import { calculate } from './calculate.ts';

const FIGURES = new Map([
  ['one', 6],
  ['two', 2],
  ['none', undefined],
]);

it.each([
  ['100 * one / 4', 150],
  ['one - two - 1', 3],
  ['one + two * 3', 12],
  ['(one + two) * 3', 24],
  ['12 / one / two', 1],
  ['FILL(none, 0) + FILL(one, 0)', 6],
  ['100 * (one - FILL(none, 0)) / two', 300],
  ['FILL(none, one * 0.5)', 3],
  ['one / (two - 2)', Number.POSITIVE_INFINITY],
  ['one + none', undefined],
  ['none', undefined],
])('%s is %s', (expression, result) => {
  expect(calculate(expression, FIGURES)).toBe(result);
});

it.each(['one + other', 'SERVICE_QUOTA(one)', 'FILL(one)', 'FILL(one, 0', '(one', 'one two', 'one +', '-one', ''])(
  'what is not known here is refused, and not guessed: "%s"',
  (expression) => {
    expect(() => calculate(expression, FIGURES)).toThrow('wanted numbers, metrics and FILL');
  },
);
