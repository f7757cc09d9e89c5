import { describe, expect, it } from 'vitest';
import type { AwsAnswers } from '../../../shared/preflight/aws-by-sdk.ts';
import type { Finding } from '../../../shared/preflight/check.ts';
import { EXIT_CODES, tableOf, verdictOf } from '../../../infra/preflight/report.ts';
import { runChecks } from '../../../shared/preflight/run-checks.ts';
import { goodAccount } from './good-account.ts';
import { needsOfEnvironment } from './needs-of-environment.ts';

type Environment = 'dev' | 'small' | 'staging' | 'prod';
const prod = needsOfEnvironment('prod');
const check = (environment: Environment, otherwise: Partial<AwsAnswers> = {}) =>
  runChecks(needsOfEnvironment(environment), goodAccount(otherwise));

async function troubles(environment: Environment, otherwise: Partial<AwsAnswers>): Promise<readonly Finding[]> {
  const findings = await check(environment, otherwise);
  return findings.filter(({ verdict }) => verdict !== 'ok');
}

it.each(['dev', 'small', 'staging', 'prod'] as const)(
  'a good account passes every check for %s',
  async (environment) => {
    const findings = await check(environment);
    expect(findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(EXIT_CODES[verdictOf(findings)]).toBe(0);
    expect(tableOf(environment, findings)).toContain('nothing stands in the way');
  },
);

it('the needs of an environment are those of its templates', async () => {
  const wanted = Object.fromEntries((await check('prod')).map((finding) => [finding.check, finding.wanted]));
  expect(wanted).toMatchObject({
    'Lambda: concurrent executions': '383 to reserve, 100 to be left',
    'RDS: DB clusters': '8 more',
    'RDS: DB instances': '24 more',
    'RDS: Proxies': '8 more',
    'VPC: Interface VPC endpoints per VPC': '1 more',
    'names of clusters': 'schemaless-prod-group-1 and 7 more free',
    'engine version': expect.stringMatching(/^aurora-mysql 8\.0\.mysql_aurora\.3\.10\.\d+, 1 to 16 ACU$/u),
    'CDK bootstrap': expect.stringMatching(/^version \d+ or later$/u),
  });
  // dev has the RDS Data API, and no proxy.
  const ofDev = await check('dev');
  expect(ofDev.map((finding) => finding.check)).not.toContain('RDS: Proxies');
  expect(ofDev.find((finding) => finding.check === 'instances db.serverless')?.wanted).toContain('RDS Data API');
});

describe('a failed check is named, with its fix', () => {
  it.each<[string, Environment, Partial<AwsAnswers>, Partial<Finding>]>([
    [
      'a new account, with ten instances of functions',
      'prod',
      { concurrency: async () => ({ limit: 10, unreserved: 10 }) },
      {
        check: 'Lambda: concurrent executions',
        todo: 'Ask AWS for 483 or more of "Concurrent executions"',
        link: 'https://eu-west-1.console.aws.amazon.com/servicequotas/home/services/lambda/quotas/L-B99A9384?region=eu-west-1',
      },
    ],
    [
      'instances that others reserve',
      'prod',
      { concurrency: async () => ({ limit: 1000, unreserved: 482 }) },
      { check: 'Lambda: concurrent executions', todo: 'Ask AWS for 1001 or more of "Concurrent executions"' },
    ],
    [
      'too few instances for the loops of dev',
      'dev',
      { concurrency: async () => ({ limit: 10, unreserved: 6 }) },
      { check: 'Lambda: concurrent executions' },
    ],
    [
      'a region in which AWS Backup copies no clusters',
      'prod',
      { backedUpTypes: async () => new Set(['DynamoDB']) },
      {
        check: 'AWS Backup',
        found: 'not enabled: Aurora',
        todo: 'aws backup update-region-settings --resource-type-opt-in-preference Aurora=true',
      },
    ],
    ['no bootstrap', 'dev', { parameter: async () => undefined }, { check: 'CDK bootstrap' }],
    [
      'an old bootstrap',
      'prod',
      { parameter: async () => '5' },
      { check: 'CDK bootstrap', found: 'version 5', todo: 'npx cdk bootstrap aws://123456789012/eu-west-1' },
    ],
    [
      'clusters of others',
      'prod',
      { rdsQuotas: async () => quotas({ DBClusters: { used: 33, most: 40 } }) },
      { check: 'RDS: DB clusters', found: '33 of 40 used', todo: 'Ask AWS for 41 or more of "DB clusters"' },
    ],
    [
      'proxies of others',
      'prod',
      { proxies: async () => Array.from({ length: 13 }, (_, at) => `other-${at}`) },
      { check: 'RDS: Proxies', todo: 'Ask AWS for 21 or more of "Proxies"' },
    ],
    ['no VPC left', 'dev', { vpcs: async () => 20 }, { check: 'VPC: VPCs per Region', found: '20 of 20 used' }],
    [
      'no endpoints left',
      'prod',
      { gatewayEndpoints: async () => 19 },
      { check: 'VPC: Gateway VPC endpoints per Region' },
    ],
    ['no such engine', 'dev', { engine: async () => undefined }, { check: 'engine version', found: 'not offered' }],
    [
      'an engine that cannot pause at 0 ACU',
      'dev',
      { engine: async () => ({ acu: [0.5, 128] }) },
      { check: 'engine version', found: 'offered, 0.5 to 128 ACU' },
    ],
    [
      'no serverless instances',
      'prod',
      { orderable: async () => [] },
      { check: 'instances db.serverless', found: 'none, no RDS Data API' },
    ],
    [
      'a region without the RDS Data API',
      'dev',
      { orderable: async () => [{ zones: ['eu-west-1a', 'eu-west-1b'], dataApi: false }] },
      { check: 'instances db.serverless', found: 'in eu-west-1a, eu-west-1b, no RDS Data API' },
    ],
    [
      'names of clusters that are taken',
      'prod',
      { clusters: async () => ['schemaless-prod-group-3'] },
      { check: 'names of clusters', found: 'taken: schemaless-prod-group-3' },
    ],
    [
      'a proxy name that is taken',
      'prod',
      { proxies: async () => ['schemaless-prod-group-1'] },
      { check: 'names of proxies' },
    ],
    [
      'log groups that a failed deployment kept',
      'prod',
      { logGroups: async () => ['/aws/rds/cluster/schemaless-prod-group-8/error'] },
      { check: 'names of log groups' },
    ],
    [
      'a service that the region lacks',
      'dev',
      { offersType: async (type) => type !== 'AWS::Scheduler::Schedule' },
      { check: 'services', found: 'not here: AWS::Scheduler::Schedule' },
    ],
  ])('%s', async (_, environment, otherwise, finding) => {
    expect(await troubles(environment, otherwise)).toEqual([
      expect.objectContaining({ verdict: 'FAIL', todo: expect.any(String), ...finding }),
    ]);
  });

  it.each(['ROLLBACK_COMPLETE', 'DELETE_FAILED', 'UPDATE_ROLLBACK_FAILED', 'CREATE_IN_PROGRESS'])(
    'a stack in %s',
    async (status) => {
      const stackStatus = async (name: string) => (name.endsWith('-storage') ? status : undefined);
      expect(await troubles('prod', { stackStatus })).toEqual([
        expect.objectContaining({ check: 'stack Schemaless-prod-storage', verdict: 'FAIL', found: status }),
      ]);
    },
  );
});

it('a stack that failed without a rollback can be deployed again', async () => {
  const stackStatus = async (name: string) => (name.endsWith('-storage') ? 'CREATE_FAILED' : undefined);
  expect(await troubles('prod', { stackStatus, clusters: async () => ['schemaless-prod-group-1'] })).toMatchObject([
    { check: 'stack Schemaless-prod-storage', verdict: 'unknown' },
    { check: 'names of clusters', verdict: 'unknown' },
  ]);
});

it('a stack with a proposed change counts as none, and names that a standing stack may hold are not called taken', async () => {
  expect(await troubles('prod', { stackStatus: async () => 'REVIEW_IN_PROGRESS' })).toEqual([]);
  const found = await troubles('prod', {
    stackStatus: async () => 'UPDATE_COMPLETE',
    clusters: async () => ['schemaless-prod-group-1'],
  });
  expect(found.map((finding) => [finding.check, finding.verdict])).toEqual([
    ['stack Schemaless-prod-storage', 'unknown'],
    ['stack Schemaless-prod-service', 'unknown'],
    ['names of clusters', 'unknown'],
  ]);
});

it.each<[Partial<AwsAnswers>, Partial<Finding>]>([
  [{}, { verdict: 'ok', wanted: '123456789012 in eu-west-1' }],
  [{ account: async () => '999999999999' }, { verdict: 'FAIL', found: '999999999999 in eu-west-1' }],
  [{ region: 'eu-west-2' }, { verdict: 'FAIL', found: '123456789012 in eu-west-2' }],
])('a stack that names its account and region accepts no others (%#)', async (otherwise, finding) => {
  const stacks = prod.stacks.map((stack) => ({ ...stack, account: '123456789012', region: 'eu-west-1' }));
  expect((await runChecks({ ...prod, stacks }, goodAccount(otherwise)))[0]).toMatchObject(finding);
});

describe('availability zones', () => {
  const zones = (ids: readonly string[]) =>
    ids.map((id, position) => ({ name: `us-east-1${'abcdef'.charAt(position)}`, id }));
  const inUsEast = (ids: readonly string[], defaults: string): Partial<AwsAnswers> => ({
    zones: async () => zones(ids),
    zonesOfDefaultSubnets: async () => [...defaults].map((letter) => `us-east-1${letter}`),
  });
  const first = ['use1-az3', 'use1-az1', 'use1-az2'];

  const SUBNETS = 'zones of the subnets';
  const withoutProxy = {
    found: expect.stringContaining('no RDS Proxy in use1-az3'),
    todo: expect.stringContaining('us-east-1a'),
  };
  it.each<[Environment, readonly string[], string, readonly Partial<Finding>[]]>([
    ['prod', first, 'cba', [{ check: SUBNETS, ...withoutProxy }]],
    ['prod', first, '', [{ check: SUBNETS }]],
    // CloudFormation does not offer the one without RDS Proxy, or there is no proxy.
    ['prod', first, 'bc', []],
    ['dev', first, 'abc', []],
    ['dev', first, 'b', [{ check: SUBNETS, found: expect.stringContaining('fewer') }]],
    // Too few have RDS Proxy.
    ['prod', first.slice(0, 2), '', [{ check: 'availability zones' }, { check: SUBNETS }]],
  ])('of %s, in %j with default subnets in "%s", fail as they should', async (environment, ids, defaults, wanted) => {
    const failures = wanted.map((finding) => expect.objectContaining({ verdict: 'FAIL', ...finding }));
    expect(await troubles(environment, inUsEast(ids, defaults))).toEqual(failures);
  });

  it.each([
    [{ AvailabilityZone: 'us-east-1b' }, { AvailabilityZoneId: 'use1-az2' }, 'ok'],
    [{ AvailabilityZone: 'us-east-1b' }, { AvailabilityZoneId: 'use1-az3' }, 'FAIL'],
    [{ AvailabilityZone: 'us-east-1b' }, { AvailabilityZone: { Ref: 'Zone' } }, 'unknown'],
  ] as const)('may be named by the template: %j, %j are %s', async (one, other, verdict) => {
    const subnets = [one, other].map((properties) => ({ type: 'AWS::EC2::Subnet', stack: 'one', properties }));
    const resources = prod.resources.filter(({ type }) => type !== 'AWS::EC2::Subnet');
    const named = { ...prod, resources: [...resources, ...subnets] };
    const findings = await runChecks(named, goodAccount(inUsEast(first, 'abc')));
    expect(findings.find((finding) => finding.check === 'zones of the subnets')).toMatchObject({ verdict });
  });
});

function quotas(
  some: Readonly<Record<string, { used: number; most: number }>>,
): Awaited<ReturnType<AwsAnswers['rdsQuotas']>> {
  const names = ['DBClusters', 'DBInstances', 'DBClusterParameterGroups', 'DBParameterGroups', 'DBSubnetGroups'];
  return new Map(names.map((name) => [name, some[name] ?? { used: 0, most: 40 }]));
}
