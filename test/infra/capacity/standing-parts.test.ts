import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { capacityFor } from '../../../infra/capacity/capacity.ts';
import { ASSUMPTIONS } from '../../../infra/capacity/assumptions.ts';
import { TRIGGER_CONCURRENCY } from '../../../infra/capacity/limits.ts';
import { loadOn } from '../../../infra/capacity/load.ts';
import { zonesIn } from '../../../infra/capacity/standing-parts.ts';
import { ENVIRONMENTS, type EnvironmentProps } from '../../../infra/environments.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { appOf, propertiesOf } from '../support/synthesized.ts';

const definitions = loadDefinitions(join(PROJECT_ROOT, 'infra/datastores'));
const triggers = definitions.datastores.reduce((sum, datastore) => sum + datastore.triggers.length, 0);

const CASES: readonly (readonly [string, EnvironmentProps, object])[] = [
  ['prod', ENVIRONMENTS.prod, { environment: 'prod' }],
  ['staging', ENVIRONMENTS.staging, { environment: 'staging' }],
  ['small', ENVIRONMENTS.small, { environment: 'small' }],
  ['dev', ENVIRONMENTS.dev, { environment: 'dev' }],
  [
    'prod in a region',
    { ...ENVIRONMENTS.prod, region: 'eu-west-1' },
    { environment: 'prod', region: 'eu-west-1', account: '123456789012' },
  ],
  ['dev without schedules', { ...ENVIRONMENTS.dev, schedules: false }, { environment: 'dev', schedules: 'off' }],
];

describe.each(CASES)('what is paid for by time in %s', (_name, environment, context) => {
  const { stacks } = appOf(context);
  const properties = (type: string) => propertiesOf(stacks, type);
  const { standing, database } = capacityFor(loadOn(environment, 4096, 0), {
    ...ASSUMPTIONS,
    triggers,
    shardsPerGroup: 4096,
  });

  it('is what the templates have', () => {
    const metrics = properties('AWS::CloudWatch::Alarm').map(({ Metrics }) =>
      Array.isArray(Metrics) ? Metrics.filter((metric: object) => 'MetricStat' in metric).length : 1,
    );
    const endpoints = properties('AWS::EC2::VPCEndpoint').filter(
      ({ VpcEndpointType }) => VpcEndpointType === 'Interface',
    );
    expect(standing).toEqual({
      secrets: properties('AWS::SecretsManager::Secret').length,
      endpoints: endpoints.reduce((sum, { SubnetIds }) => sum + (SubnetIds as readonly unknown[]).length, 0),
      alarmMetrics: metrics.reduce((sum, count) => sum + count, 0),
      dashboards: properties('AWS::CloudWatch::Dashboard').length,
      schedules: properties('AWS::Scheduler::Schedule').length,
    });
    expect(database.nodes).toBe(properties('AWS::RDS::DBInstance').length);
    expect(properties('AWS::RDS::DBProxy')).toHaveLength(environment.proxy ? database.groups : 0);
    expect(properties('AWS::RDS::DBProxyEndpoint')).toHaveLength(environment.proxy ? database.groups : 0);
    expect(properties('AWS::EC2::NatGateway')).toEqual([]);
    expect(properties('AWS::EC2::Subnet')).toHaveLength(zonesIn(environment));
  });

  it('has functions of the memory that the plan counts with', () => {
    const megabytes = properties('AWS::Lambda::Function')
      .filter(({ Description }) => /^Schemaless: (?!starts|goes|changes)/u.test(String(Description)))
      .map(({ MemorySize }) => MemorySize);
    expect(new Set(megabytes)).toEqual(
      new Set([ASSUMPTIONS.functionMb, ASSUMPTIONS.smallFunctionMb, environment.loopMemoryMb]),
    );
    for (const { ScalingConfig, BatchSize } of properties('AWS::Lambda::EventSourceMapping')) {
      expect(ScalingConfig).toEqual({ MaximumConcurrency: TRIGGER_CONCURRENCY });
      expect(BatchSize).toBe(10);
    }
  });
});
