import { describe, expect, it } from 'vitest';
import type { AwsAnswers } from '../../../infra/preflight/aws-answers.ts';
import type { Finding } from '../../../infra/preflight/check.ts';
import { EXIT_CODES, tableOf, verdictOf } from '../../../infra/preflight/report.ts';
import { runChecks } from '../../../infra/preflight/run-checks.ts';
import { needsOf } from '../../../infra/preflight/synthesized-needs.ts';
import { Unanswered } from '../../../infra/preflight/unanswered.ts';
import { STAND_INS } from '../support/synthesized.ts';
import { goodAccount } from './good-account.ts';

const needs = {
  dev: needsOf({ environment: 'dev', functions: STAND_INS }),
  small: needsOf({ environment: 'small', functions: STAND_INS }),
  staging: needsOf({ environment: 'staging', functions: STAND_INS }),
  prod: needsOf({ environment: 'prod', functions: STAND_INS }),
};

/** What is not ok. */
async function troubles(environment: keyof typeof needs, otherwise: Partial<AwsAnswers>): Promise<readonly Finding[]> {
  const findings = await runChecks(needs[environment], goodAccount(otherwise));
  return findings.filter(({ verdict }) => verdict !== 'ok');
}

function refused(action: string): () => Promise<never> {
  return async () => {
    throw new Unanswered(action, Object.assign(new Error('no'), { name: 'AccessDenied' }));
  };
}

describe.each(['dev', 'small', 'staging', 'prod'] as const)('a good account, for %s', (environment) => {
  it('is found good in every check', async () => {
    const findings = await runChecks(needs[environment], goodAccount());
    expect(findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(EXIT_CODES[verdictOf(findings)]).toBe(0);
    expect(tableOf(environment, findings)).toContain('nothing stands in the way');
  });
});

it('needs of prod what prod is described with', async () => {
  const wanted = Object.fromEntries(
    (await runChecks(needs.prod, goodAccount())).map(({ check, wanted }) => [check, wanted]),
  );
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
});

it('asks nothing of proxies for dev, which has none, but the RDS Data API', async () => {
  const findings = await runChecks(needs.dev, goodAccount());
  expect(findings.map(({ check }) => check)).not.toContain('RDS: Proxies');
  expect(findings.find(({ check }) => check === 'instances db.serverless')?.wanted).toContain('RDS Data API');
});

describe('what fails is named, with what to do', () => {
  it.each<[string, keyof typeof needs, Partial<AwsAnswers>, Partial<Finding>]>([
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
    ['no bootstrap', 'dev', { parameter: async () => undefined }, { check: 'CDK bootstrap' }],
    [
      'an old bootstrap',
      'prod',
      { parameter: async () => '5' },
      {
        check: 'CDK bootstrap',
        found: 'version 5',
        todo: 'npx cdk bootstrap aws://123456789012/eu-west-1',
      },
    ],
    [
      'clusters of others',
      'prod',
      { rdsQuotas: async () => quotas({ DBClusters: { used: 33, most: 40 } }) },
      { check: 'RDS: DB clusters', found: '33 of 40 used', todo: 'Ask AWS for 41 or more of "DB clusters"' },
    ],
    [
      'instances of others',
      'prod',
      { rdsQuotas: async () => quotas({ DBInstances: { used: 17, most: 40 } }) },
      { check: 'RDS: DB instances', todo: 'Ask AWS for 41 or more of "DB instances"' },
    ],
    [
      'proxies of others',
      'prod',
      { proxies: async () => Array.from({ length: 13 }, (_, at) => `other-${at}`) },
      { check: 'RDS: Proxies', todo: 'Ask AWS for 21 or more of "Proxies"' },
    ],
    ['no VPC left', 'dev', { vpcs: async () => 20 }, { check: 'VPC: VPCs per Region', found: '20 of 20 used' }],
    [
      'no gateway endpoints left',
      'prod',
      { gatewayEndpoints: async () => 19 },
      { check: 'VPC: Gateway VPC endpoints per Region' },
    ],
    [
      'an engine that is not offered',
      'dev',
      { engine: async () => undefined },
      { check: 'engine version', found: 'not offered' },
    ],
    [
      'an engine that cannot rest at 0 ACU',
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
      'names of proxies that are taken',
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

  it.each(['ROLLBACK_COMPLETE', 'CREATE_FAILED', 'DELETE_FAILED', 'UPDATE_ROLLBACK_FAILED', 'CREATE_IN_PROGRESS'])(
    'a stack in %s',
    async (status) => {
      const stackStatus = async (name: string) => (name.endsWith('-storage') ? status : undefined);
      expect(await troubles('prod', { stackStatus })).toEqual([
        expect.objectContaining({ check: 'stack Schemaless-prod-storage', verdict: 'FAIL', found: status }),
      ]);
    },
  );
});

it('takes a stack of which a change was proposed and never made for none', async () => {
  expect(await troubles('prod', { stackStatus: async () => 'REVIEW_IN_PROGRESS' })).toEqual([]);
});

it('does not call names taken that a stack which stands may hold', async () => {
  const found = await troubles('prod', {
    stackStatus: async () => 'UPDATE_COMPLETE',
    clusters: async () => ['schemaless-prod-group-1'],
  });
  expect(found.map(({ check, verdict }) => [check, verdict])).toEqual([
    ['stack Schemaless-prod-storage', 'unknown'],
    ['stack Schemaless-prod-service', 'unknown'],
    ['names of clusters', 'unknown'],
  ]);
});

describe('a stack that is bound to an account', () => {
  const bound = {
    ...needs.prod,
    stacks: needs.prod.stacks.map((stack) => ({ ...stack, account: '123456789012', region: 'eu-west-1' })),
  };

  it('takes that account alone', async () => {
    const [good] = await runChecks(bound, goodAccount());
    expect(good).toMatchObject({ verdict: 'ok', wanted: '123456789012 in eu-west-1' });
    const [other] = await runChecks(bound, goodAccount({ account: async () => '999999999999' }));
    expect(other).toMatchObject({ verdict: 'FAIL', found: '999999999999 in eu-west-1' });
    const [elsewhere] = await runChecks(bound, goodAccount({ region: 'eu-west-2' }));
    expect(elsewhere).toMatchObject({ verdict: 'FAIL', found: '123456789012 in eu-west-2' });
  });
});

describe('availability zones', () => {
  const zones = (ids: readonly string[]) =>
    ids.map((id, position) => ({ name: `us-east-1${'abcdef'.charAt(position)}`, id }));
  const inUsEast = (ids: readonly string[], defaults: string): Partial<AwsAnswers> => ({
    zones: async () => zones(ids),
    zonesOfDefaultSubnets: async () => [...defaults].map((letter) => `us-east-1${letter}`),
  });
  const first = ['use1-az3', 'use1-az1', 'use1-az2'];

  it('fail where RDS Proxy is not in one that the template takes', async () => {
    expect(await troubles('prod', inUsEast(first, 'cba'))).toEqual([
      expect.objectContaining({
        check: 'zones of the subnets',
        verdict: 'FAIL',
        found: expect.stringContaining('no RDS Proxy in use1-az3'),
        todo: expect.stringContaining('us-east-1a'),
      }),
    ]);
    expect(await troubles('prod', inUsEast(first, ''))).toHaveLength(1);
  });

  it('do not where CloudFormation does not offer that one, or there is no proxy', async () => {
    expect(await troubles('prod', inUsEast(first, 'bc'))).toEqual([]);
    expect(await troubles('dev', inUsEast(first, 'abc'))).toEqual([]);
  });

  it('fail where CloudFormation offers too few', async () => {
    expect(await troubles('dev', inUsEast(first, 'b'))).toEqual([
      expect.objectContaining({ check: 'zones of the subnets', found: expect.stringContaining('fewer') }),
    ]);
  });

  it('fail where too few have RDS Proxy', async () => {
    const found = await troubles('prod', inUsEast(['use1-az3', 'use1-az1'], ''));
    expect(found.map(({ check }) => check)).toEqual(['availability zones', 'zones of the subnets']);
  });

  it.each([
    [{ AvailabilityZone: 'us-east-1b' }, { AvailabilityZoneId: 'use1-az2' }, 'ok'],
    [{ AvailabilityZone: 'us-east-1b' }, { AvailabilityZoneId: 'use1-az3' }, 'FAIL'],
    [{ AvailabilityZone: 'us-east-1b' }, { AvailabilityZone: { Ref: 'Zone' } }, 'unknown'],
  ] as const)('may be named by the template: %j, %j are %s', async (one, other, verdict) => {
    const subnets = [one, other].map((properties) => ({ type: 'AWS::EC2::Subnet', stack: 'one', properties }));
    const resources = needs.prod.resources.filter(({ type }) => type !== 'AWS::EC2::Subnet');
    const named = { ...needs.prod, resources: [...resources, ...subnets] };
    const findings = await runChecks(named, goodAccount(inUsEast(first, 'abc')));
    expect(findings.find(({ check }) => check === 'zones of the subnets')).toMatchObject({ verdict });
  });
});

describe('what cannot be asked', () => {
  it('says which right is missing, while the other checks go on', async () => {
    const otherwise = { rdsQuotas: refused('rds:DescribeAccountAttributes'), vpcs: async () => 20 };
    const findings = await runChecks(needs.prod, goodAccount(otherwise));
    const missing = findings.filter(({ verdict }) => verdict === 'unknown');
    expect(missing.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['RDS: DB clusters', 'RDS: DB instances']),
    );
    for (const { todo } of missing) expect(todo).toContain('rds:DescribeAccountAttributes');
    expect(findings.filter(({ verdict }) => verdict === 'FAIL').map(({ check }) => check)).toEqual([
      'VPC: VPCs per Region',
    ]);
    // What is wrong is known for sure.
    expect(EXIT_CODES[verdictOf(findings)]).toBe(1);
  });

  it('ends with 2 where nothing is known to be wrong', async () => {
    const findings = await runChecks(needs.dev, goodAccount({ engine: refused('rds:DescribeDBEngineVersions') }));
    expect(EXIT_CODES[verdictOf(findings)]).toBe(2);
  });

  it('is everything for whom AWS does not know', async () => {
    const account = async () => {
      throw new Unanswered(
        'sts:GetCallerIdentity',
        Object.assign(new Error('none'), { name: 'CredentialsProviderError' }),
      );
    };
    const findings = await runChecks(needs.prod, goodAccount({ account }));
    expect(findings).toEqual([
      expect.objectContaining({
        check: 'account and region',
        verdict: 'unknown',
        todo: expect.stringContaining('Log in'),
      }),
    ]);
    expect(EXIT_CODES[verdictOf(findings)]).toBe(2);
  });
});

function quotas(
  some: Readonly<Record<string, { used: number; most: number }>>,
): Awaited<ReturnType<AwsAnswers['rdsQuotas']>> {
  const names = ['DBClusters', 'DBInstances', 'DBClusterParameterGroups', 'DBParameterGroups', 'DBSubnetGroups'];
  return new Map(names.map((name) => [name, some[name] ?? { used: 0, most: 40 }]));
}
