import { expect, it } from 'vitest';
import { anomaliesOf, type CounterRead, type CounterVersion, type Increment } from './check-history.ts';

const incremented = (change: Partial<Increment>): Increment => ({
  row: 'r',
  id: 'a',
  begun: 0,
  ended: 10,
  from: -1,
  to: 0,
  outcome: 'stored',
  ...change,
});
const A = incremented({});
const B = incremented({ id: 'b', begun: 5, ended: 20, from: 0, to: 2 });
const there = ({ row, id, from, to }: Increment): CounterVersion => ({ row, id, from, version: to });
const read = (begun: number, ended: number, version: number): CounterRead => ({ row: 'r', begun, ended, version });

it.each<[string, readonly Increment[], readonly CounterRead[], readonly CounterVersion[]]>([
  ['increments that overlap', [A, B], [read(0, 30, 0), read(21, 30, 2)], [there(A), there(B)]],
  ['an unclear one that is stored', [A, { ...B, outcome: 'unclear' }], [], [there(A), there(B)]],
  ['an unclear one that is not', [A, { ...B, outcome: 'unclear' }], [read(40, 41, 0)], [there(A)]],
])('explains %s', (_, increments, reads, versions) => {
  expect(anomaliesOf(increments, reads, versions)).toEqual([]);
});

it.each<[string, readonly Increment[], readonly CounterRead[], readonly CounterVersion[], RegExp]>([
  ['a lost increment', [A, B], [], [there(A)], /b was acknowledged, and is lost/],
  [
    'two written on one version',
    [A, { ...B, from: -1 }],
    [],
    [there(A), there({ ...B, from: -1 })],
    /2 was written on -1, behind 0/,
  ],
  ['one that was refused', [A, { ...B, outcome: 'refused' }], [], [there(A), there(B)], /b was refused, and is stored/],
  [
    'an order against time',
    [{ ...A, begun: 30, ended: 40 }, B],
    [],
    [there(A), there(B)],
    /2 was done before an earlier/,
  ],
  ['a stale read', [A, B], [read(21, 30, 0)], [there(A), there(B)], /0 was read after 2 was known/],
  [
    'a read behind another',
    [A, { ...B, outcome: 'unclear' }],
    [read(12, 13, 2), read(14, 15, 0)],
    [there(A), there(B)],
    /0 was read after 2/,
  ],
  ['a read of the future', [A, B], [read(0, 4, 2)], [there(A), there(B)], /2 was read before it was begun/],
])('finds %s', (_, increments, reads, versions, anomaly) => {
  expect(anomaliesOf(increments, reads, versions)).toEqual([expect.stringMatching(anomaly)]);
});
