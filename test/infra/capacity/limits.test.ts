import { describe, expect, it } from 'vitest';
import { capacityFor } from '../../../infra/capacity/capacity.ts';
import { limitsOf } from '../../../infra/capacity/limits.ts';
import { loadOn, RATES } from '../../../infra/capacity/load.ts';
import { limitTable, needsTable } from '../../../infra/capacity/table.ts';
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

  it.each([
    [10_000, ['API Gateway: throttle rate', "concurrency of a trigger's function", 'the one run of `drain-buffer`']],
    [100_000, ['RDS: DB instances', 'RDS: proxies', '`groups`', 'cells of one shard, one call after another']],
  ])('bite at %i writes a second', (writes, names) => {
    expect(exceededBy(writes)).toEqual(expect.arrayContaining(names));
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
});
