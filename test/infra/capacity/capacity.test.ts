import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { ASSUMPTIONS } from '../../../infra/capacity/assumptions.ts';
import { capacityFor } from '../../../infra/capacity/capacity.ts';
import { dpusOf, dsqlFor } from '../../../infra/capacity/elsewhere/dsql.ts';
import { dynamoDbFor } from '../../../infra/capacity/elsewhere/dynamodb.ts';
import { loadOn, RATES } from '../../../infra/capacity/load.ts';
import type { Plan } from '../../../infra/capacity/plan.ts';
import { ENVIRONMENTS, type EnvironmentProps } from '../../../infra/environments.ts';

const { dev, small, prod } = ENVIRONMENTS;
const planFor = (writesPerSecond: number, environment: EnvironmentProps = prod): Plan =>
  capacityFor(loadOn(environment, 4096, writesPerSecond));
const lineOf = (plan: Plan, name: string): number => plan.bill.find((line) => line.name === name)?.usd ?? Number.NaN;

/** Rates over all orders of magnitude. */
const rate = fc.oneof(
  fc.constant(0),
  fc.double({ min: -3, max: 5.5, noNaN: true }).map((exponent) => 10 ** exponent),
);
const environment = fc.constantFrom<EnvironmentProps>(
  prod,
  dev,
  { ...dev, schedules: false },
  { ...prod, proxy: false, databaseAuth: 'secret', readersPerGroup: 0, tracing: false },
);

describe('a plan', () => {
  it('never costs less for more writes, nor needs fewer groups, ACUs or functions', () => {
    fc.assert(
      fc.property(environment, rate, rate, (on, one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)].map((writes) => planFor(writes, on)) as [
          Plan,
          Plan,
        ];
        // Sums of many floating-point numbers may end a little differently.
        expect(more.monthlyUsd).toBeGreaterThanOrEqual(less.monthlyUsd * (1 - 1e-9));
        expect(more.database.groups).toBeGreaterThanOrEqual(less.database.groups);
        expect(more.database.groups * more.database.groupAcu).toBeGreaterThanOrEqual(
          less.database.groups * less.database.groupAcu * (1 - 1e-9),
        );
        expect(more.traffic.writeCells.concurrency).toBeGreaterThanOrEqual(less.traffic.writeCells.concurrency);
        expect(more.state.writes).toBeGreaterThanOrEqual(less.state.writes);
        expect(more.state.reads).toBeGreaterThanOrEqual(less.state.reads);
      }),
      { numRuns: 300 },
    );
  });

  it('has a bill of the same lines at every rate, none below nothing, that add up', () => {
    const names = planFor(0).bill.map(({ name }) => name);
    for (const writes of RATES) {
      const { bill, monthlyUsd } = planFor(writes);
      expect(bill.map(({ name }) => name)).toEqual(names);
      for (const { usd } of bill) expect(usd).toBeGreaterThanOrEqual(0);
      expect(bill.reduce((sum, { usd }) => sum + usd, 0)).toBe(monthlyUsd);
    }
  });

  it('costs at rest what stands there: least capacity, proxies, endpoints, and functions that run all the time', () => {
    const plan = planFor(0);
    // 8 groups of three nodes at 1 ACU; 8 ACU each at the proxies, with an endpoint for readers in two zones.
    expect(lineOf(plan, 'Aurora: capacity')).toBeCloseTo(8 * 3 * 1 * 0.12 * 730, 6);
    expect(lineOf(plan, 'RDS Proxy')).toBeCloseTo(8 * 8 * 0.015 * 730 + 8 * 2 * 0.01 * 730, 6);
    expect(lineOf(plan, 'Network: endpoints, traffic between zones')).toBeCloseTo(1 * 2 * 0.01 * 730, 6);
    expect(lineOf(plan, 'Secrets Manager')).toBeCloseTo(8 * 0.4, 6);
    expect(lineOf(plan, 'HTTP API')).toBe(0);
    expect(lineOf(plan, 'Aurora: storage')).toBe(0);
    // Four tailers and the repair with 1,769 MB, the drain with 512; the mover is only started.
    const gigabytes = ((5 * 1769 + 512) / 1024) * (1 + 2 / 60);
    expect(lineOf(plan, 'Lambda: drain, repair, tailers')).toBeCloseTo(
      gigabytes * 730 * 3600 * 0.0000133334 + 7 * 730 * 60 * 2e-7,
      6,
    );
  });

  it('is cheap for a young team, and not for nothing over the Data API', () => {
    const atRest = (environment: EnvironmentProps): number =>
      capacityFor(loadOn(environment, environment.shards['trips'] ?? 4096, 0)).monthlyUsd;
    expect(atRest(small)).toBeLessThan(250);
    expect(atRest({ ...small, schedules: false })).toBeLessThan(20);
    const inVpc: EnvironmentProps = { ...small, access: 'mysql', functionsInVpc: true };
    expect(atRest(inVpc)).toBeGreaterThan(atRest(small));
    expect(atRest({ ...inVpc, schedules: false })).toBeGreaterThan(2 * atRest({ ...small, schedules: false }));
  });

  it('has groups enough for the shards, the writes and what is deployed', () => {
    expect(planFor(0).database.groups).toBe(8);
    expect(capacityFor(loadOn(prod, 8192, 0)).database.groups).toBe(16);
    expect(capacityFor(loadOn({ ...prod, groups: 12 }, 4096, 0)).database.groups).toBe(12);
    expect(planFor(100_000).database.groups).toBe(40);
  });

  it('lets dev pause without schedules: nothing is billed by the hour of a node, nor of a function', () => {
    const paused = capacityFor(loadOn({ ...dev, schedules: false }, 256, 0));
    expect(lineOf(paused, 'Aurora: capacity')).toBe(0);
    expect(lineOf(paused, 'Lambda: drain, repair, tailers')).toBe(0);
    expect(lineOf(paused, 'RDS Data API')).toBe(0);
    // Awake it has half an ACU at least.
    expect(lineOf(capacityFor(loadOn(dev, 256, 0)), 'Aurora: capacity')).toBeCloseTo(0.5 * 0.12 * 730, 6);
  });

  it('is refused for what is no load', () => {
    expect(() => loadOn(prod, 4096, Number.NaN)).toThrow('writesPerSecond: wanted a number from 0, got NaN');
    expect(() => loadOn(prod, 4096, -1)).toThrow('writesPerSecond: wanted a number from 0, got -1');
    expect(() => loadOn(prod, 0.5, 1)).toThrow('shards: wanted a whole number from 1, got 0.5');
  });

  it('has the sums by hand of other databases at a thousand writes a second', () => {
    const plan = capacityFor(loadOn(prod, 4096, 1000));
    const dsql = dsqlFor(plan);
    // 1,351.66 and 283.82 for writes and reads, 869.07 of storage, 84.49 and 931.45 for the stream.
    expect([dsql.monthlyUsd, dsql.storedUsd].map((usd) => usd.toFixed(1))).toEqual(['3520.5', '869.1']);
    // 8,212.50 and 657 of units; 841.95 and 551.18 of storage.
    const dynamo = dynamoDbFor(plan, { capacity: 'on-demand', finds: 'latest' });
    expect([dynamo.monthlyUsd, dynamo.storedUsd].map((usd) => usd.toFixed(1))).toEqual(['10262.6', '1393.1']);
    // An example of AWS: a single insert takes 0.06175 DPU.
    const small = { ...ASSUMPTIONS.elsewhere, encodedCellBytes: 20, entryBytes: 20 };
    const insert = capacityFor(loadOn(prod, 4096, 1), { ...ASSUMPTIONS, elsewhere: small, entriesPerWrite: 0 });
    expect(dpusOf(insert).writes).toBeCloseTo(0.06175, 5);
  });
});
