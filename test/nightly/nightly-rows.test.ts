import { expect, it } from 'vitest';
import { NIGHTS, nightlyRows, partOf } from './nightly-rows.ts';

const faultRuns = ['acks', 'kill', 'log', 'simulate', 'moves', 'quiet', 'races', 'tailers'];
const rowsOf = (part: number) => nightlyRows({ engine: 'mysql', part, seed: 'one', faultRuns });

it('three nights in a row carry out every fault run, each once', () => {
  const nights = ['2026-12-31T23:00:00Z', '2027-01-01T23:00:00Z', '2027-01-02T01:00:00Z'].map((at) => new Date(at));
  const names = nights.flatMap((night) => rowsOf(partOf(night)).map(({ name }) => name));
  const runs = names.filter((name) => name.startsWith('faults-')).map((name) => name.slice('faults-'.length));
  expect(runs.toSorted()).toEqual(faultRuns.filter((name) => name !== 'simulate').toSorted());
});

it('each night carries out everything else, on the engine that was asked for', () => {
  for (let part = 0; part < NIGHTS; part += 1) {
    const rows = rowsOf(part);
    expect(rows.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['store', 'data-api', 'stacks', 'simulate', 'alarms', 'rights', 'console']),
    );
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    expect(rows.find(({ name }) => name === 'store')?.env).toEqual({
      SCHEMALESS_ENGINE: 'mysql',
      SCHEMALESS_ACCESS: 'mysql',
    });
  }
});
