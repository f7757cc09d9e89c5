import { describe, expect, it } from 'vitest';
import { capacityFor } from '../../../../infra/capacity/capacity.ts';
import { dsqlFor } from '../../../../infra/capacity/elsewhere/dsql.ts';
import { sideBySideTable } from '../../../../infra/capacity/elsewhere/side-by-side.ts';
import { loadOn, RATES } from '../../../../infra/capacity/load.ts';
import { usd } from '../../../../infra/capacity/table.ts';
import { ENVIRONMENTS } from '../../../../infra/environments.ts';

const plans = RATES.map((writes) => capacityFor(loadOn(ENVIRONMENTS.prod, 4096, writes)));
const small = RATES.map((writes) => capacityFor(loadOn(ENVIRONMENTS.small, 768, writes)));
const rows = new Map(
  sideBySideTable({ small, prod: plans }, 'prod')
    .split('\n')
    .map((row) => {
      const [name = '', ...cells] = row.slice(2, -2).split(' | ');
      return [name, cells] as const;
    }),
);

describe('the environments beside other databases', () => {
  it('have their whole sums, in brackets where they exceed a limit', () => {
    expect(rows.get('small, all of it')?.[0]).toBe(usd(small[0]?.monthlyUsd ?? Number.NaN));
    // 200 requests a second are what it takes.
    expect(rows.get('small, all of it')?.[1]).toBe(`(${usd(small[1]?.monthlyUsd ?? Number.NaN)})`);
  });

  it('are divided into what is in front and what is not, of which the sum is the whole', () => {
    const [, , plan] = plans;
    const inFront = ["Lambda: the API's and triggers' functions", 'HTTP API', 'CloudWatch: logs', 'X-Ray'];
    const front = plan?.bill.reduce((sum, line) => sum + (inFront.includes(line.name) ? line.usd : 0), 0) ?? Number.NaN;
    expect(rows.get('in front of prod, as of the others')?.[2]).toBe(usd(front));
    expect(rows.get('**prod without that**')?.[2]).toBe(`**${usd((plan?.monthlyUsd ?? Number.NaN) - front)}**`);
  });

  it('cost more than others at low rates, and where the document says that they pass', () => {
    const amounts = (name: string): readonly number[] =>
      (rows.get(`**${name}**`) ?? []).map((text) => Number(text.replaceAll(/[*(),]/gu, '')));
    const here = amounts('prod without that');
    const isBelow = (name: string): readonly boolean[] => amounts(name).map((usd, rate) => usd < (here[rate] ?? 0));
    expect(isBelow('Aurora DSQL, index over the latest')).toEqual([true, true, true, true, true]);
    expect(isBelow('DynamoDB provisioned, index over all versions')).toEqual([true, true, true, true, true]);
    expect(isBelow('DynamoDB on demand, index over all versions')).toEqual([true, true, true, false, false]);
    expect(isBelow('DynamoDB on demand, index over the latest')).toEqual([true, true, false, false, false]);
    const kept = [...rows].filter(([name]) => name.startsWith('each month of cells adds')).map(([, cells]) => cells[2]);
    expect(Math.min(...kept.map((text) => Number(text?.replaceAll(',', ''))))).toBe(Number(kept[0]));
  });

  it('stand beside what the same costs there', () => {
    const [, , plan] = plans;
    const other = plan && dsqlFor(plan);
    expect(rows.get('**Aurora DSQL, index over the latest**')?.[2]).toBe(`**${usd(other?.monthlyUsd ?? Number.NaN)}**`);
    expect(rows.get('each month of cells adds: Aurora DSQL')?.[2]).toBe(usd(other?.storedUsd ?? Number.NaN));
    expect(new Set([...rows.values()].map(({ length }) => length)).size).toBe(2);
  });
});
