import { describe, expect, it } from 'vitest';
import type { MetricStat } from './alarm.ts';
import { calculate, stateOf, stateOfPoints } from './evaluate.ts';
import { MetricStore } from './metrics/metric-store.ts';
import { NOON, someAlarm } from './some-alarm.ts';

/** `0 - X`: a good value, none, a bad one. */
const pointsOf = (text: string): readonly (number | undefined)[] =>
  text.split(' ').map((point) => ({ '0': 0, X: 1 })[point]);

const ABOVE_NONE = { comparison: 'GreaterThanThreshold', threshold: 0, evaluationPeriods: 3 } as const;

/** The examples of missing values in CloudWatch's documentation. */
describe.each([
  [3, '0 - X - X', 'OK', 'OK'],
  [3, '- - - - 0', 'OK', 'OK'],
  [3, '- - - - -', 'ALARM', 'OK'],
  [3, '0 X X - X', 'ALARM', 'ALARM'],
  [3, '- - X - -', 'ALARM', 'OK'],
  [2, '0 - X - X', 'ALARM', 'ALARM'],
  [2, '0 0 X 0 X', 'ALARM', 'ALARM'],
  [2, '0 - X - -', 'ALARM', 'OK'],
  [2, '- - - - 0', 'ALARM', 'OK'],
  [2, '- - - X -', 'ALARM', 'OK'],
] as const)('%i bad ones of three, of %s', (datapointsToAlarm, points, ifBad, ifGood) => {
  it.each([
    [true, ifBad],
    [false, ifGood],
  ] as const)('silence is bad: %s', (silenceIsBad, state) => {
    expect(stateOfPoints({ ...ABOVE_NONE, datapointsToAlarm, silenceIsBad }, pointsOf(points))).toBe(state);
  });
});

const AGE: MetricStat = {
  namespace: 'Schemaless',
  name: 'age',
  dimensions: { service: 'local' },
  statistic: 'Maximum',
};
const ALARM = someAlarm('a buffered write waits', { checks: AGE, threshold: 300 });
const MINUTE = 60_000;

describe('an alarm', () => {
  it('rings once a period is over in which its value was beyond the bound, and not at it', () => {
    const store = new MetricStore();
    store.add(AGE, NOON + 10_000, 300);
    expect(stateOf(ALARM, store, NOON + MINUTE)).toBe('OK');
    store.add(AGE, NOON + 59_999, 301);
    expect(stateOf(ALARM, store, NOON + 59_999)).toBe('OK');
    expect(stateOf(ALARM, store, NOON + MINUTE)).toBe('ALARM');
    store.add(AGE, NOON + MINUTE, 0);
    expect(stateOf(ALARM, store, NOON + 2 * MINUTE)).toBe('OK');
  });

  it('of five minutes is judged over one', () => {
    const store = new MetricStore();
    const alarm = { ...ALARM, periodSeconds: 300, checks: { ...AGE, statistic: 'Sum' } };
    for (const second of [0, 59, 60]) store.add(AGE, NOON + second * 1000, 151);
    expect(stateOf(alarm, store, NOON + MINUTE)).toBe('ALARM');
    expect(stateOf(alarm, store, NOON + 2 * MINUTE)).toBe('OK');
  });

  it('looks at no metric with other dimensions, nor one of another name or place', () => {
    const store = new MetricStore();
    store.add({ ...AGE, dimensions: {} }, NOON, 301);
    store.add({ ...AGE, dimensions: { service: 'local', export: 's3' } }, NOON, 301);
    store.add({ ...AGE, name: 'ages' }, NOON, 301);
    store.add({ ...AGE, namespace: 'AWS/SQS' }, NOON, 301);
    expect(stateOf(ALARM, store, NOON + MINUTE)).toBe('OK');
  });

  it('of a percentile needs so many of a hundred', () => {
    const store = new MetricStore();
    const alarm = { ...ALARM, checks: { ...AGE, statistic: 'p99' } };
    store.add(AGE, NOON, ...Array.from({ length: 198 }, () => 1), 301, 301);
    expect(stateOf(alarm, store, NOON + MINUTE)).toBe('OK');
    store.add(AGE, NOON, 301);
    expect(stateOf(alarm, store, NOON + MINUTE)).toBe('ALARM');
  });

  it('on an expression rings by the combined value of its metrics', () => {
    const [errors, requests] = ['5xx', 'Count'].map((name) => ({ ...AGE, name, statistic: 'Sum' })) as [
      MetricStat,
      MetricStat,
    ];
    const checks = { expression: '100 * errors / requests', metrics: { errors, requests } };
    const alarm = { ...ALARM, threshold: 1, checks };
    const store = new MetricStore();
    store.add(errors, NOON, 5);
    expect(stateOf(alarm, store, NOON + MINUTE), 'without a divisor').toBe('OK');
    store.add(requests, NOON, 500);
    expect(stateOf(alarm, store, NOON + MINUTE)).toBe('OK');
    store.add(errors, NOON, 1);
    expect(stateOf(alarm, store, NOON + MINUTE)).toBe('ALARM');
  });
});

it.each([
  ['100 * one / 4', 150],
  ['one - two - 1', 3],
  ['(one + two) * 3', 24],
  ['FILL(none, 0) + FILL(one, 0)', 6],
  ['100 * (one - FILL(none, 0)) / two', 300],
  ['one / (two - 2)', undefined],
  ['one + none', undefined],
  ['none', undefined],
])('the expression %s is %s', (expression, result) => {
  expect(calculate(expression, { one: 6, two: 2, none: undefined })).toBe(result);
});

it.each(['one + other', 'SERVICE_QUOTA(one)', 'FILL(one, 0', 'one two'])(
  'the expression "%s" is refused',
  (expression) => {
    expect(() => calculate(expression, { one: 6 })).toThrow(/is not defined|missing|Unexpected/u);
  },
);
