import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { managedOf } from '../../../infra/capacity/plan.ts';
import { connectionBudget, loopSlots } from '../../../infra/constructs/connection-budget.ts';
import { checkEnvironment, storeEnvironment } from '../../../infra/constructs/store-options.ts';
import { ENVIRONMENT_NAMES, ENVIRONMENTS, type EnvironmentProps } from '../../../infra/environments.ts';
import { appOf, MANAGED_PROD, propertiesOf } from '../support/synthesized.ts';
import { exceededIn } from '../support/template-limits.ts';

const managed = managedOf(ENVIRONMENTS.prod);

describe('a managed prod', () => {
  const { stacks } = appOf({ environment: 'prod', region: 'eu-west-1' }, MANAGED_PROD);
  const functions = propertiesOf(stacks, 'AWS::Lambda::Function');

  it('runs the functions that answer most requests 64 at once, in as many environments as it says', () => {
    const most = { 'writes cells': 18, 'reads cells and logs': 12, 'finds rows by their fields': 6 };
    const ran = functions.filter((fn) => 'CapacityProviderConfig' in fn);
    expect(ran).toHaveLength(3);
    for (const [does, MaxExecutionEnvironments] of Object.entries(most)) {
      const fn = ran.find(({ Description }) => Description === `Schemaless: ${does}`);
      expect(fn).toMatchObject({
        MemorySize: 2048,
        PublishToLatestPublished: true,
        FunctionScalingConfig: { MinExecutionEnvironments: 3, MaxExecutionEnvironments },
        CapacityProviderConfig: {
          LambdaManagedInstancesCapacityProviderConfig: {
            PerExecutionEnvironmentMaxConcurrency: 64,
            ExecutionEnvironmentMemoryGiBPerVCpu: 2,
          },
        },
        LoggingConfig: { LogFormat: 'JSON' },
        Environment: { Variables: { SCHEMALESS_CONNECTIONS: '8' } },
      });
      // The provider has the network, and nothing can be reserved.
      for (const name of ['VpcConfig', 'ReservedConcurrentExecutions']) expect(fn).not.toHaveProperty(name);
    }
    expect(functions.filter((fn) => 'ReservedConcurrentExecutions' in fn)).toHaveLength(7);
  });

  it('has one provider in its subnets, whose logs and traces have a way out, and sends its routes there', () => {
    const [provider, ...others] = propertiesOf(stacks, 'AWS::Lambda::CapacityProvider');
    expect(others).toEqual([]);
    expect(provider).toMatchObject({ InstanceRequirements: { Architectures: ['arm64'] } });
    const { SubnetIds, SecurityGroupIds } = Object(provider?.['VpcConfig']);
    expect([SubnetIds.length, JSON.stringify(SecurityGroupIds)]).toEqual([3, expect.stringMatching(/networkclients/u)]);
    const ways = JSON.stringify(propertiesOf(stacks, 'AWS::EC2::VPCEndpoint').map(({ ServiceName }) => ServiceName));
    for (const service of ['.logs', '.xray', '.sqs']) expect(ways).toContain(service);
    const integrations = JSON.stringify(propertiesOf(stacks, 'AWS::ApiGatewayV2::Integration'));
    for (const id of ['managedwritecells', 'managedreadcells', 'managedqueryindex', '"erasecells'])
      expect(integrations).toContain(id);
    expect(exceededIn(stacks)).toEqual([]);
  });

  it('has alarms for errors and throttles of each managed function, and reserves what the runbook says', () => {
    const watched = propertiesOf(stacks, 'AWS::CloudWatch::Alarm').map(({ MetricName, Dimensions }) =>
      JSON.stringify([MetricName, Dimensions]),
    );
    for (const name of ['Errors', 'Throttles'])
      expect(watched.filter((one) => new RegExp(`"${name}".*managed(write|read|query)`, 'u').test(one))).toHaveLength(
        3,
      );
    const of = (all: typeof functions): number =>
      all.reduce((sum, fn) => sum + Number(fn['ReservedConcurrentExecutions'] ?? 0), 0);
    const onDemand = propertiesOf(appOf({ environment: 'prod' }).stacks, 'AWS::Lambda::Function');
    const runbook = readFileSync(new URL('../../../infra/docs/operations/runbook.md', import.meta.url), 'utf8');
    expect(runbook).toContain(`reserves ${of(onDemand)}, on managed instances ${of(functions)}.`);
  });

  it('needs fewer connections, both versions of a deployment counted', () => {
    expect(connectionBudget(managed)).toMatchObject({ wanted: 2 * 36 * 9 + 7 * 9 + 189 });
    expect(() => checkEnvironment(managed)).not.toThrow();
    const writing = { ...managed.instances, 'write-cells': 67 } as NonNullable<EnvironmentProps['instances']>;
    expect(loopSlots({ ...managed, instances: writing }), 'of 20,000 writes a second').toBe(4);
  });
});

it('no environment has managed instances unless it asks for them', () => {
  for (const environment of ENVIRONMENT_NAMES)
    expect(propertiesOf(appOf({ environment }).stacks, 'AWS::Lambda::CapacityProvider')).toEqual([]);
});

it.each([8, 16, 64])('a store of %s ACU elsewhere gets connections for its requests, and a bound', (max) => {
  const managedInstances = { requestsAtOnce: 64 };
  const environment = storeEnvironment('shop', {
    access: 'mysql',
    managedInstances,
    capacity: { min: 1, max },
    groups: 4,
  });
  expect(environment).toMatchObject({
    connections: { request: 8 },
    instances: { 'write-cells': expect.any(Number) },
  });
  expect(loopSlots(environment)).toBe(1);
  expect(() => checkEnvironment(environment)).not.toThrow();
});

const { instances: _, ...unbounded } = managed;
const WITHOUT_VPC = { access: 'data-api', functionsInVpc: false, proxy: false, databaseAuth: 'secret' } as const;
it.each<[EnvironmentProps, string]>([
  [{ ...managed, ...WITHOUT_VPC }, 'Instances: wanted nothing with access data-api, whose functions are in no VPC'],
  [{ ...managed, canaryMinutes: 10 }, 'Instances: wanted nothing with canaryMinutes: AWS bounds no numbered version'],
  [unbounded, 'Instances: wanted nothing without instances, which bound their number, got 64 requests'],
  [{ ...managed, managedInstances: { requestsAtOnce: 65 } }, 'requestsAtOnce: wanted a whole number from 1 to 64'],
  [{ ...managed, connections: { request: 3, loop: 8 } }, 'prod.connections.request: wanted a whole number from 8'],
])('managed instances of a wrong environment are refused: %#', (environment, message) => {
  expect(() => checkEnvironment(environment)).toThrow(message);
});
