import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tables } from '../../../infra/capacity/command.ts';
import { backupsPerGb, millionReads, millionWrites, restOf, standingOf, sumOf } from '../../../infra/capacity/bill.ts';
import { managedOf, planOf } from '../../../infra/capacity/plan.ts';
import { checkEnvironment } from '../../../infra/constructs/store-options.ts';
import { ENVIRONMENTS, type EnvironmentProps } from '../../../infra/environments.ts';
import { appOf, MANAGED_PROD, propertiesOf } from '../support/synthesized.ts';
import { exceededIn } from '../support/template-limits.ts';

const { dev, small, staging, prod } = ENVIRONMENTS;
const off = (environment: EnvironmentProps): EnvironmentProps => ({ ...environment, schedules: false });
const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

it('the page has the tables that the command prints', () => {
  for (const table of tables()) expect(read('infra/docs/operations/capacity.md'), 'npm run capacity').toContain(table);
});

// The source tree may be tested without its page.
it.runIf(existsSync(new URL('../../../README.md', import.meta.url)))(
  'the page of the project says what idle environments cost, in two digits',
  () => {
    const output = [
      ...read('README.md')
        .replaceAll(/\s+/gu, ' ')
        .matchAll(/(?<of>`\w+`(?: without schedules)?) about (?<usd>[\d,]+) USD/gu),
    ].map(({ groups }) => [groups?.['of'], groups?.['usd']]);
    const cost = (environment: EnvironmentProps): string =>
      Math.round(Number(sumOf(restOf(environment)).toPrecision(2))).toLocaleString('en-US');
    expect(Object.fromEntries(output)).toEqual({
      '`prod`': cost(prod),
      '`staging`': cost(staging),
      '`small`': cost(small),
      '`small` without schedules': cost(off(small)),
      '`dev`': cost(dev),
      '`dev` without schedules': cost(off(dev)),
    });
  },
);

describe.each([
  ['prod', prod, {}, {}],
  ['prod', managedOf(prod), {}, MANAGED_PROD],
  ['staging', staging, {}, {}],
  ['small', small, {}, {}],
  ['dev', off(dev), { schedules: 'off' }, {}],
])('the bill of an idle %s', (environment, props, context, changes) => {
  it('has what its templates have', () => {
    const { stacks } = appOf({ environment, ...context }, changes);
    const properties = (type: string) => propertiesOf(stacks, type);
    const { alarmMetrics, ...standing } = standingOf(props);
    const endpoints = properties('AWS::EC2::VPCEndpoint').filter(
      ({ VpcEndpointType }) => VpcEndpointType === 'Interface',
    );
    expect(standing).toEqual({
      zones: properties('AWS::EC2::Subnet').length,
      nodes: properties('AWS::RDS::DBInstance').length,
      schedules: properties('AWS::Scheduler::Schedule').length,
      endpoints: endpoints.reduce((sum, { SubnetIds }) => sum + (SubnetIds as readonly unknown[]).length, 0),
      secrets: properties('AWS::SecretsManager::Secret').length,
    });
    const metrics = properties('AWS::CloudWatch::Alarm').reduce(
      (sum, { Metrics }) =>
        sum + (Array.isArray(Metrics) ? Metrics.filter((metric: object) => 'MetricStat' in metric).length : 1),
      0,
    );
    expect(Math.abs(alarmMetrics - metrics)).toBeLessThan(metrics / 4);
    expect(properties('AWS::RDS::DBProxy')).toHaveLength(props.proxy ? props.groups : 0);
    expect(properties('AWS::EC2::NatGateway')).toEqual([]);
  });
});

it('bills no hour of a node or a function where a cluster pauses, and half an ACU where it does not', () => {
  const paused = restOf(off(dev));
  expect([paused['Aurora: capacity'], paused['RDS Data API'], paused['Lambda: drain, repair, tailers']]).toEqual([
    0, 0, 0,
  ]);
  expect(restOf(dev)['Aurora: capacity']).toBeCloseTo(0.5 * 0.12 * 730, 6);
  // Eight groups of three nodes; 8 ACU each at the proxies, with an endpoint for readers in two zones.
  expect(restOf(prod)['Aurora: capacity']).toBeCloseTo(24 * 0.12 * 730, 6);
  expect(restOf(prod)['RDS Proxy']).toBeCloseTo(8 * 8 * 0.015 * 730 + 16 * 0.01 * 730, 6);
});

it('a million writes and reads cost what their parts do by hand', () => {
  const [writes, reads] = [millionWrites(prod), millionReads(prod)];
  // 25 ms of 1769 MB and 50 ms of 512 MB; two calls.
  expect(writes['Lambda']).toBeCloseTo(68_189 * 0.0000133334 + 0.4, 3);
  // Three commits, a copy deleted, two pages.
  expect(writes['Aurora: I/O']).toBeCloseTo(1.2, 6);
  expect(millionWrites(small)['RDS Data API']).toBeCloseTo(4 * 0.35, 6);
  expect(reads['Lambda']).toBeCloseTo(17_275 * 0.0000133334 + 0.2, 3);
});

it('bills managed instances by their vCPUs with a fee of 15 %, and their requests as on demand', () => {
  const managed = managedOf(prod);
  // Three environments of each of three functions, and a vCPU of each of three instances.
  expect(restOf(managed)['Lambda: managed instances']).toBeCloseTo(12 * 730 * 0.0399 * 1.15, 6);
  // 2 ms and 1 ms of CPU at 60 %; the trigger's function stays on demand.
  const cpuHours = 1e6 / 1000 / 0.6 / 3600;
  expect(millionWrites(managed)['Lambda']).toBeCloseTo(2 * cpuHours * 0.0399 * 1.15 + 25_000 * 0.0000133334 + 0.4, 6);
  expect(millionReads(managed)['Lambda']).toBeCloseTo(cpuHours * 0.0399 * 1.15 + 0.2, 6);
  expect(planOf(managed, 10_000)).toMatchObject({
    changed: { instances: { 'write-cells': 34, 'read-cells': 17 } },
    // Nine of other functions that answer, 23 of loops, 834 of triggers.
    concurrency: 9 + 23 + 834 + 100,
  });
});

it('bills copies of AWS Backup at full size, beyond the days in which they are free', () => {
  const copyTo = 'arn:aws:backup:eu-north-1:123456789012:backup-vault:elsewhere';
  // One a week for the 55 days after the 35.
  expect(backupsPerGb(prod)).toBeCloseTo((55 / 7) * 0.021, 6);
  expect(millionWrites(prod)['Backups, each month']).toBeCloseTo((1230e6 / 1024 ** 3) * backupsPerGb(prod), 6);
  expect(backupsPerGb({ ...prod, backups: { keepDays: 35, monthlyDays: 365 } })).toBeCloseTo(11 * 0.021, 6);
  // Another region bills each from its first day, and that it is sent there: daily ones for a week, and weekly ones.
  const sent = (730 / 24) * (1 + 1 / 7) * 0.02;
  expect(backupsPerGb({ ...prod, backups: { keepDays: 90, copyTo } })).toBeCloseTo(
    ((55 + 7 * 7 + 90) / 7) * 0.021 + sent,
    6,
  );
  expect(backupsPerGb(small)).toBe(0);
  const [, here, both] =
    /(\d+) USD a month for each TB of cells, with `backupVault` ([\d,]+)/u.exec(
      read('infra/docs/operations/capacity.md').replaceAll(/\s+/gu, ' '),
    ) ?? [];
  const perTb = (environment: EnvironmentProps): string =>
    Number((1024 * backupsPerGb(environment)).toPrecision(2)).toLocaleString('en-US');
  expect([here, both]).toEqual([perTb(prod), perTb({ ...prod, backups: { keepDays: 90, copyTo } })]);
});

describe('the plan for a rate of writes', () => {
  it.each([100, 1000, 10_000, 100_000])('of %i a second is the smallest that synthesis accepts', (writes) => {
    const { environments, changed } = planOf(prod, writes);
    const at = (max: number): EnvironmentProps => ({ ...prod, ...changed, capacity: { ...prod.capacity, max } });
    expect(() => checkEnvironment(at(changed.capacity.max))).not.toThrow();
    expect(() => checkEnvironment(at(changed.capacity.max / 2))).toThrow('connections to a group');
    // Eight environments need 1,042 concurrent batches of a trigger.
    expect(environments).toBe(writes === 100_000 ? 9 : 1);
  });

  it.each([
    // Instances of writes, reads, drain and maintenance; those of a trigger; requests a second; ACU.
    [1000, [42, 17, 3, 3], 84, 5000, 8],
    [10_000, [417, 167, 5, 5], 834, 33_334, 64],
    [100_000, [463, 186, 7, 7], 926, 37_038, 64],
  ])('of %i a second makes stacks within the limits of AWS', (writes, instances, batches, requests, MaxCapacity) => {
    const { changed, concurrency } = planOf(prod, writes);
    const { stacks } = appOf({ environment: 'prod', region: 'eu-west-1' }, changed);
    const properties = (type: string) => propertiesOf(stacks, type);
    expect(exceededIn(stacks)).toEqual([]);
    const reserved = properties('AWS::Lambda::Function').map((fn) => Number(fn['ReservedConcurrentExecutions'] ?? 0));
    expect(reserved).toEqual(expect.arrayContaining(instances));
    expect(concurrency).toBe(reserved.reduce((sum, count) => sum + count, batches + 100));
    for (const { ScalingConfig } of properties('AWS::Lambda::EventSourceMapping'))
      expect(ScalingConfig).toEqual({ MaximumConcurrency: batches });
    expect(properties('AWS::ApiGatewayV2::Stage')).toMatchObject([
      { DefaultRouteSettings: { ThrottlingRateLimit: requests, ThrottlingBurstLimit: requests / 2 } },
    ]);
    expect(properties('AWS::Scheduler::Schedule')).toHaveLength(standingOf({ ...prod, ...changed }).schedules);
    expect(properties('AWS::RDS::DBCluster')[0]).toMatchObject({ ServerlessV2ScalingConfiguration: { MaxCapacity } });
  });

  it('takes the instances that the runbook names for 1,000 writes and 1,000 reads a second', () => {
    const runbook = read('infra/docs/operations/runbook.md');
    const instancesOf = (environment: EnvironmentProps) => Object.values(planOf(environment, 1000).changed.instances);
    const [[writes, reads], [managedWrites, managedReads]] = [instancesOf(prod), instancesOf(managedOf(prod))];
    expect(runbook).toContain(`: ${writes} for 1,000 writes a second, ${reads} for 1,000 reads.`);
    expect(runbook).toContain(`: ${managedWrites} and ${managedReads}.`);
  });

  it('has more tailers where theirs are busy for over 60 % of the time', () => {
    expect([6000, 6001, 12_000].map((writes) => planOf(staging, writes).changed.tailers)).toEqual([2, 3, 4]);
  });

  it('exists where functions hold connections, and for rates that one client can split', () => {
    expect(() => planOf(dev, 1)).toThrow('dev: wanted an environment whose functions hold connections');
    expect(() => planOf(prod, 1e8)).toThrow('prod: wanted writes for 100 environments at most, got 100000000');
  });
});
