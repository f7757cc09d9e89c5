import type { CdkCustomResourceEvent, Context } from 'aws-lambda';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { onEvent } from '../../functions/preflight.ts';
import type { DeployedResources } from '../../shared/preflight/judge-deployment.ts';
import { refusal, result, startFakeAws, type FakeAnswers } from '../infra/preflight/fake-aws.ts';
import { clusters, concurrent, GOOD, member, SERVICES } from '../infra/preflight/good-answers.ts';
import { folderOfTests } from '../infra/support/folder-of-tests.ts';
import { propertiesOf, synthesized } from '../infra/support/synthesized.ts';
import { statementsOf } from '../infra/support/statements.ts';

const STACK = 'arn:aws:cloudformation:eu-west-1:123456789012:stack/Schemaless-prod-storage/6f2f';
const OWN_STACK = ['cloudformation:DescribeStacks'];

const folder = folderOfTests();
const stack = synthesized(join(folder.path, 'prod'), { environment: 'prod', account: '123456789012' });
const prod: DeployedResources = JSON.parse(String(propertiesOf(stack, 'Custom::SchemalessPreflight')[0]?.['Needs']));

interface Asked {
  readonly type?: 'Create' | 'Update' | 'Delete';
  readonly needs?: DeployedResources;
  readonly before?: DeployedResources;
  readonly status?: string;
  readonly answers?: FakeAnswers;
}

/** Calls the function as the provider framework does. Returns its end, and the requests to AWS. */
async function ask({ type = 'Create', needs = prod, before = prod, status, answers }: Asked) {
  const inProgress = status ?? (type === 'Create' ? 'CREATE_IN_PROGRESS' : 'UPDATE_IN_PROGRESS');
  const described = member(`<StackName>one</StackName><StackStatus>${inProgress}</StackStatus>`);
  await using aws = await startFakeAws({
    ...GOOD,
    DescribeStacks: [result('DescribeStacks', `<Stacks>${described}</Stacks>`)],
    ...answers,
  });
  for (const service of SERVICES) vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, aws.url);
  const event = {
    RequestType: type,
    RequestId: '1',
    StackId: STACK,
    LogicalResourceId: 'preflightresource',
    ResourceType: 'Custom::SchemalessPreflight',
    ServiceToken: 'arn:aws:lambda:eu-west-1:123456789012:function:provider',
    ResponseURL: '...',
    ResourceProperties: { ServiceToken: '', Needs: JSON.stringify(needs) },
    ...(type !== 'Create' && { PhysicalResourceId: 'schemaless-preflight' }),
    ...(type === 'Update' && { OldResourceProperties: { Needs: JSON.stringify(before) } }),
  } as CdkCustomResourceEvent;
  const ended = await onEvent(event, { getRemainingTimeInMillis: () => 60_000 } as Context).then(
    () => 'passed',
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
  return { ended, actions: [...aws.actions].toSorted() };
}

const messageOf = (ended: string | Error): string => (ended instanceof Error ? ended.message : ended);

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
});
afterEach(() => vi.unstubAllEnvs());

describe('a first deployment', () => {
  it('passes in a good account', async () => {
    expect((await ask({})).ended).toBe('passed');
  });

  it('that does not fit fails with all the reasons, on one line', async () => {
    const full = ['DBClusters', 'DBInstances'].map(
      (name) => `<AccountQuota><AccountQuotaName>${name}</AccountQuotaName><Used>39</Used><Max>40</Max></AccountQuota>`,
    );
    const { ended } = await ask({
      answers: {
        GetAccountSettings: [concurrent(10)],
        DescribeAccountAttributes: [
          result('DescribeAccountAttributes', `<AccountQuotas>${full.join('')}</AccountQuotas>`),
        ],
        DescribeDBClusters: [clusters('schemaless-prod-group-3')],
        DescribeDBEngineVersions: [refusal('InvalidParameterCombination', 'Cannot find version')],
      },
    });
    const output = messageOf(ended);
    expect(output).toMatch(/^this account does not take the deployment, for 5 reasons: 1\) /u);
    expect(output).toContain('taken: schemaless-prod-group-3');
    expect(output).toContain('383 to reserve, 100 to be left, found 10 unreserved of 10; Ask AWS for 483 or more');
    expect(output).toContain('RDS: DB clusters: wanted 8 more, found 39 of 40 used; Ask AWS for 47 or more');
    expect(output).toContain('RDS: DB instances: wanted 24 more');
    expect(output).toMatch(/engine version: wanted aurora-mysql [^)]*found not offered/u);
    // Lambda sends an error to the provider framework with its stack first.
    expect(ended instanceof Error && ended.stack).toBe(`Error: ${output}`);
    expect(output).not.toContain('\n');
  });

  it('passes if AWS denies the requests', async () => {
    const denied = refusal('AccessDenied', 'not authorized, with an explicit deny in a service control policy', 403);
    const others = Object.keys(GOOD).filter((action) => action !== 'DescribeStacks');
    const { ended, actions } = await ask({ answers: Object.fromEntries(others.map((action) => [action, [denied]])) });
    expect(ended).toBe('passed');
    expect(actions).toContain('rds:DescribeDBClusters');
    expect(await ask({ answers: { DescribeStacks: [denied] } })).toEqual({ ended: 'passed', actions: OWN_STACK });
  });

  it('fails for what is known, whatever else is not', async () => {
    const denied = refusal('AccessDenied', 'no', 403);
    const { ended } = await ask({ answers: { DescribeVpcs: [denied], GetAccountSettings: [concurrent(10)] } });
    expect(messageOf(ended)).toContain('for 1 reason: 1) Lambda: concurrent executions');
  });

  it('passes where what is handed over cannot be read', async () => {
    expect(await ask({ needs: { odd: JSON.parse('1') } })).toMatchObject({ ended: 'passed' });
  });
});

describe('another deployment', () => {
  const without = (form: RegExp): DeployedResources =>
    Object.fromEntries(Object.entries(prod).filter(([id]) => !form.test(id)));
  const eighth = /^group8/u;

  it('that changes nothing of it asks nothing but what becomes of its stack', async () => {
    const { ended, actions } = await ask({ type: 'Update', answers: { GetAccountSettings: [concurrent(0)] } });
    expect([ended, actions]).toEqual(['passed', OWN_STACK]);
  });

  it('is judged by what it adds: a group more', async () => {
    const { ended, actions } = await ask({
      type: 'Update',
      before: without(eighth),
      answers: {
        GetAccountSettings: [concurrent(0)],
        // Those of its other groups are its own.
        DescribeDBClusters: [clusters('schemaless-prod-group-1')],
        DescribeDBProxies: [
          result(
            'DescribeDBProxies',
            `<DBProxies>${member('<DBProxyName>schemaless-prod-group-8</DBProxyName>')}</DBProxies>`,
          ),
        ],
      },
    });
    expect(messageOf(ended)).toMatch(/for 1 reason: 1\) names of proxies: wanted schemaless-prod-group-8 free/u);
    expect(actions).toContain('rds:DescribeAccountAttributes');
    expect(actions.filter((action) => action.startsWith('ec2:') || action.startsWith('lambda:'))).toEqual([]);
  });

  it('is judged by what it changes: the version of the engine', async () => {
    const older = JSON.parse(JSON.stringify(prod).replaceAll('mysql_aurora.3.10', 'mysql_aurora.3.08'));
    const answers = { DescribeDBEngineVersions: [refusal('InvalidParameterCombination', 'Cannot find version')] };
    const { ended, actions } = await ask({ type: 'Update', before: older, answers });
    expect(messageOf(ended)).toContain('for 1 reason: 1) engine version');
    expect(actions).toEqual([...OWN_STACK, 'rds:DescribeDBEngineVersions']);
  });

  it('is judged by the instances that it reserves beyond those of before', async () => {
    const [id, own] = Object.entries(prod).find(([, { type }]) => type === 'AWS::Lambda::Function') ?? [];
    if (id === undefined || own === undefined) throw new Error('wanted a function that reserves instances');
    const less = Number(own.properties['ReservedConcurrentExecutions']) - 10;
    const before = { ...prod, [id]: { ...own, properties: { ReservedConcurrentExecutions: less } } };
    const { ended, actions } = await ask({
      type: 'Update',
      before,
      answers: { GetAccountSettings: [concurrent(109)] },
    });
    expect(messageOf(ended)).toContain('wanted 10 to reserve, 100 to be left, found 109 unreserved');
    expect(actions).toEqual([...OWN_STACK, 'lambda:GetAccountSettings']);
    // One that reserves fewer needs none.
    expect((await ask({ type: 'Update', needs: before, before: prod })).actions).toEqual(OWN_STACK);
  });

  it('is not judged where CloudFormation goes back: what it goes back to was there', async () => {
    const { ended, actions } = await ask({
      type: 'Update',
      before: without(eighth),
      status: 'UPDATE_ROLLBACK_IN_PROGRESS',
      answers: { DescribeDBClusters: [clusters('schemaless-prod-group-8')] },
    });
    expect([ended, actions]).toEqual(['passed', OWN_STACK]);
  });

  it('takes a store of before there was a preflight for what it is', async () => {
    const held = Object.entries(prod).find(([, { type }]) => type === 'AWS::RDS::DBCluster')?.[0] ?? '';
    const listed = (id: string): FakeAnswers => ({
      GetAccountSettings: [concurrent(10)],
      ListStackResources: [
        result(
          'ListStackResources',
          `<StackResourceSummaries>${member(`<LogicalResourceId>${id}</LogicalResourceId>`)}</StackResourceSummaries>`,
        ),
      ],
    });
    const status = 'UPDATE_IN_PROGRESS';
    const both = [...OWN_STACK, 'cloudformation:ListStackResources'];
    expect(await ask({ status, answers: listed(held) })).toEqual({ ended: 'passed', actions: both });
    // A store that is added to an existing stack is new.
    expect(messageOf((await ask({ status, answers: listed('shop') })).ended)).toContain('concurrent executions');
  });

  it('that removes everything asks nothing', async () => {
    expect(await ask({ type: 'Delete' })).toEqual({ ended: 'passed', actions: [] });
  });
});

it('may ask what it asks, and nothing else', async () => {
  const made = await ask({ status: 'UPDATE_IN_PROGRESS' });
  const allowed = statementsOf(stack).get('preflightonEvent') ?? [];
  expect(allowed.flatMap(({ actions }) => actions).toSorted()).toEqual(made.actions);
  expect(allowed.filter(({ resources }) => resources.includes('"*"'))).toHaveLength(1);
});
