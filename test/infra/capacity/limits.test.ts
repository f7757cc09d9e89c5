import { describe, expect, it } from 'vitest';
import { capacityFor } from '../../../infra/capacity/capacity.ts';
import { limitsOf } from '../../../infra/capacity/limits.ts';
import { loadOn, RATES } from '../../../infra/capacity/load.ts';
import { costTable, limitTable, needsTable } from '../../../infra/capacity/table.ts';
import { ENVIRONMENTS } from '../../../infra/environments.ts';

const planFor = (writes: number) => capacityFor(loadOn(ENVIRONMENTS.prod, 4096, writes));
const exceededBy = (writes: number): readonly string[] =>
  limitsOf(planFor(writes)).flatMap(({ name, isExceeded }) => (isExceeded ? [name] : []));
const cellsOf = (row: string): readonly string[] => row.slice(2, -2).split(' | ');

describe('the limits', () => {
  it('bite nobody at rest, and ever more with the rate', () => {
    expect(exceededBy(0)).toEqual([]);
    expect(exceededBy(100)).toEqual([]);
    const counts = RATES.map((writes) => exceededBy(writes).length);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  });

  it('bite at ten thousand writes a second: requests, functions at once, and the one function of a trigger', () => {
    expect(exceededBy(10_000)).toEqual(
      expect.arrayContaining([
        'API Gateway: throttle rate',
        '`throttle.ratePerSecond`',
        "concurrency of a trigger's function",
        'the one run of `drain-buffer`',
        'the one run of `repair-indexes`',
      ]),
    );
  });

  it('bite at a hundred thousand: instances, proxies, groups, and cells of a shard that come one after another', () => {
    expect(exceededBy(100_000)).toEqual(
      expect.arrayContaining([
        'RDS: DB instances',
        'RDS: proxies',
        '`groups`',
        '`capacity.max`',
        'cells of one shard, one call after another',
        'SQS: API requests of a FIFO queue, each action',
      ]),
    );
  });

  it('bite just above what there is', () => {
    const [at, above] = [1000, 1001].map((writes) =>
      limitsOf(planFor(writes)).find(({ name }) => name === "concurrency of a trigger's function"),
    );
    expect(at).toMatchObject({ limit: 50, need: 50, isExceeded: false });
    expect(above).toMatchObject({ limit: 50, need: 51, isExceeded: true });
  });

  it('are all named in the last row of what a load needs, for each rate, and bold in their own', () => {
    const plans = RATES.map(planFor);
    const [, ...named] = cellsOf(needsTable(plans).split('\n').at(-1) ?? '');
    expect(named).toEqual(RATES.map((writes) => exceededBy(writes).join('; ') || 'none'));
    const rows = limitTable(plans).split('\n').slice(2).map(cellsOf);
    for (const [name, , ...cells] of rows) {
      expect(
        cells.slice(0, RATES.length).map((cell) => cell.startsWith('**')),
        name,
      ).toEqual(RATES.map((writes) => exceededBy(writes).includes(name ?? '')));
      expect(cells).toHaveLength(RATES.length + 1);
    }
  });

  it('have a row each, and every table as many cells in each row', () => {
    const plans = RATES.map(planFor);
    expect(limitTable(plans).split('\n')).toHaveLength(limitsOf(planFor(0)).length + 2);
    for (const table of [needsTable(plans), costTable(plans), limitTable(plans)]) {
      expect(new Set(table.split('\n').map((row) => row.split('|').length)).size).toBe(1);
    }
  });
});
