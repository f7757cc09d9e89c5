import { describe, expect, it } from 'vitest';
import { parseProperties } from './properties.ts';
import { expectedInserts, readWorkloads, toWorkload } from './workloads.ts';

it('are the six of the benchmark', () => {
  expect(Object.fromEntries(readWorkloads().map(({ name, mix, chosen }) => [name[0], { mix, chosen }]))).toEqual({
    A: { mix: { read: 0.5, update: 0.5 }, chosen: 'zipfian' },
    B: { mix: { read: 0.95, update: 0.05 }, chosen: 'zipfian' },
    C: { mix: { read: 1 }, chosen: 'zipfian' },
    D: { mix: { read: 0.95, insert: 0.05 }, chosen: 'latest' },
    E: { mix: { scan: 0.95, insert: 0.05 }, chosen: 'zipfian' },
    F: { mix: { read: 0.5, 'read-modify-write': 0.5 }, chosen: 'zipfian' },
  });
  for (const { recordCount, operationCount } of readWorkloads())
    expect([recordCount, operationCount]).toEqual([1000, 1000]);
  expect(readWorkloads().at(-1)).toMatchObject({ name: 'E, short ranges', mostScanned: 100 });
});

describe('a file', () => {
  const GOOD = 'recordcount=1\noperationcount=1\nreadallfields=true\nreadproportion=1\nrequestdistribution=zipfian\n';

  it.each([
    ['readproportion=often', /readproportion: wanted a number from 0, got "often"/],
    ['readproportion=0.5', /sum is 1, got 0\.5/],
    ['recordcount=', /recordcount: wanted a number/],
    ['requestdistribution=hotspot', /wanted zipfian or latest, got "hotspot"/],
    ['readallfields=false', /readallfields: wanted true/],
    ['readproportion=0\nscanproportion=1\nscanlengthdistribution=zipfian', /scanlengthdistribution: wanted uniform/],
  ])('with %j is refused with what was wanted', (line, message) => {
    expect(() => toWorkload('X', parseProperties(GOOD + line))).toThrow(message);
  });
});

it('reckons with twice the inserts of its operations, or with what a time may bring', () => {
  const [a, e] = [readWorkloads()[0], readWorkloads().at(-1)];
  if (!a || !e) throw new Error('no workloads');
  expect(expectedInserts(a, { operations: 1000, seconds: 20 })).toBe(0);
  expect(expectedInserts(e, { operations: 1000, seconds: 20 })).toBe(100);
  expect(expectedInserts(e, { seconds: 20 })).toBe(20_000);
});
