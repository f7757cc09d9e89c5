import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { AwsBySdk } from '../../../infra/preflight/aws-by-sdk.ts';
import { EXIT_CODES, verdictOf } from '../../../infra/preflight/report.ts';
import { runChecks } from '../../../infra/preflight/run-checks.ts';
import { needsOf } from '../../../infra/preflight/synthesized-needs.ts';
import { STAND_INS } from '../support/synthesized.ts';
import { refusal, result, startFakeAws, type FakeAnswers } from './fake-aws.ts';
import { GOOD, concurrent, member, SERVICES, version } from './good-answers.ts';

const ENTRY = join(PROJECT_ROOT, 'infra/preflight/command.ts');
const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-west-1' };
const MINUTES = 180_000;

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(parameters: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ran> {
  const nobody = { HOME: '/nonexistent', AWS_EC2_METADATA_DISABLED: 'true' };
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [ENTRY, ...parameters], {
    env: { PATH, NODE_COMPILE_CACHE, ...nobody, ...environment },
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: typeof code === 'number' ? code : null, stdout, stderr };
}

const CONTEXT = { environment: 'prod', functions: STAND_INS };
const CONTEXT_FLAGS = Object.entries(CONTEXT).flatMap(([key, value]) => ['-c', `${key}=${value}`]);

const endpointsAt = (url: string): Record<string, string> =>
  Object.fromEntries(SERVICES.map((service) => [`AWS_ENDPOINT_URL_${service}`, url]));

async function runAgainst(answers: FakeAnswers, ...parameters: readonly string[]) {
  await using aws = await startFakeAws(answers);
  return {
    ...(await run([...CONTEXT_FLAGS, ...parameters], { ...KEYS, ...endpointsAt(aws.url) })),
    asked: aws.asked,
  };
}

// What the environment needs is known once it is synthesized, which takes seconds of a core.
const needs = needsOf(CONTEXT);

/** The command's checks in this process. */
async function checkAgainst(answers: FakeAnswers) {
  await using aws = await startFakeAws(answers);
  // Of whoever runs the tests nothing.
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries({ ...KEYS, ...endpointsAt(aws.url) })) vi.stubEnv(name, value);
  const findings = await runChecks(needs, new AwsBySdk({ region: KEYS.AWS_REGION })).finally(() => vi.unstubAllEnvs());
  return {
    code: EXIT_CODES[verdictOf(findings)],
    troubles: findings.filter(({ verdict }) => verdict !== 'ok'),
    asked: aws.asked,
  };
}

interface Printed {
  readonly verdict: string;
  readonly checks: readonly { readonly check: string; readonly verdict: string; readonly found: string }[];
}

const troublesIn = (stdout: string) => (JSON.parse(stdout) as Printed).checks.filter(({ verdict }) => verdict !== 'ok');

describe('the command, against what answers as AWS does', { timeout: MINUTES }, () => {
  it('finds nothing wrong with a good account, and says so in a table', async () => {
    const { code, stdout, stderr, asked } = await runAgainst(GOOD);
    // The synthesis says what it thinks of an environment without a region.
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^(?:WARNING The network is in the first zones[^]*)?$/u)]);
    expect(stdout).toMatch(/^account and region +any account in any region +123456789012 in eu-west-1 +ok$/mu);
    expect(stdout).toMatch(/^prod: nothing stands in the way .*0 FAIL, 0 unknown\)$/mu);
    // One question for all that it answers, page by page.
    expect([asked.get('DescribeAccountAttributes'), asked.get('DescribeDBClusters')]).toEqual([1, 2]);
  });

  it('ends with 1 for a new account with an old bootstrap, and waits where AWS throttles', async () => {
    const throttled = { status: 429, body: { __type: 'TooManyRequestsException', message: 'Rate exceeded' } };
    const answers = {
      ...GOOD,
      GetParameter: [version('5')],
      GetAccountSettings: [throttled, throttled, concurrent(10)],
    };
    const { code, stdout, asked } = await runAgainst(answers, '--json');
    expect(code).toBe(1);
    expect(troublesIn(stdout)).toEqual([
      expect.objectContaining({ check: 'CDK bootstrap', verdict: 'FAIL', found: 'version 5' }),
      expect.objectContaining({
        check: 'Lambda: concurrent executions',
        verdict: 'FAIL',
        found: '10 unreserved of 10',
        link: expect.stringContaining('/lambda/quotas/L-B99A9384'),
      }),
    ]);
    expect(asked.get('GetAccountSettings')).toBe(3);
  });

  it('ends with 2 for missing rights, names each, and makes the other checks', async () => {
    const denied = (action: string): string =>
      `User: arn:aws:iam::123456789012:user/ann is not authorized to perform: ${action}`;
    const answers = {
      ...GOOD,
      GetParameter: [{ status: 400, body: { __type: 'AccessDeniedException', Message: denied('ssm:GetParameter') } }],
      DescribeDBProxies: [refusal('AccessDenied', denied('rds:DescribeDBProxies'), 403)],
      DescribeVpcs: [
        {
          status: 403,
          body: '<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>You are not authorized to perform this operation.</Message></Error></Errors><RequestID>1</RequestID></Response>',
        },
      ],
    };
    const { code, troubles } = await checkAgainst(answers);
    expect(code).toBe(2);
    expect(troubles.map(({ check, verdict, found }) => [check, verdict, found])).toEqual([
      ['CDK bootstrap', 'unknown', 'no right to ask: ssm:GetParameter'],
      ['names of proxies', 'unknown', 'no right to ask: rds:DescribeDBProxies'],
      ['RDS: Proxies', 'unknown', 'no right to ask: rds:DescribeDBProxies'],
      ['VPC: VPCs per Region', 'unknown', 'no right to ask: ec2:DescribeVpcs'],
    ]);
  });

  it('ends with 1 where there is no bootstrap, no such engine, no such type, and a stack that failed', async () => {
    const failed = member('<StackName>one</StackName><StackStatus>ROLLBACK_COMPLETE</StackStatus>');
    const answers = {
      ...GOOD,
      GetParameter: [{ status: 400, body: { __type: 'ParameterNotFound', message: 'none' } }],
      DescribeDBEngineVersions: [refusal('InvalidParameterCombination', 'Cannot find version')],
      DescribeType: [refusal('TypeNotFoundException', 'none', 404)],
      DescribeStacks: [result('DescribeStacks', `<Stacks>${failed}</Stacks>`)],
    };
    const { code, troubles } = await checkAgainst(answers);
    expect(code).toBe(1);
    expect(troubles.map(({ check, verdict }) => [check, verdict])).toEqual([
      ['CDK bootstrap', 'FAIL'],
      ['stack Schemaless-prod-storage', 'FAIL'],
      ['stack Schemaless-prod-service', 'FAIL'],
      ['engine version', 'FAIL'],
      ['services', 'FAIL'],
    ]);
  });

  it('ends with 2 for whom AWS does not let in', async () => {
    const answers = { ...GOOD, GetCallerIdentity: [refusal('InvalidClientTokenId', 'The token is invalid', 403)] };
    const { code, troubles, asked } = await checkAgainst(answers);
    expect([code, [...asked.keys()]]).toEqual([2, ['GetCallerIdentity']]);
    expect(troubles).toEqual([expect.objectContaining({ found: 'not let in: The token is invalid' })]);
  });
});

describe('the command without an account', { timeout: MINUTES }, () => {
  it('ends with 2 without credentials, or without a region', async () => {
    const withoutKeys = await run(CONTEXT_FLAGS, { AWS_REGION: 'eu-west-1' });
    expect([withoutKeys.code, withoutKeys.stdout]).toEqual([2, expect.stringContaining('not let in')]);
    const { AWS_REGION: _, ...keys } = KEYS;
    const nowhere = await run(CONTEXT_FLAGS, keys);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('wanted a region')]);
  });

  it.each([
    [[], 'environment: wanted one of'],
    [['-c', 'environment=local'], 'which runs on one machine'],
    [['-c', 'environment=prod', '-c', 'groups=3'], 'groups: wanted nothing'],
    [['-c', 'enviroment=prod'], 'Wanted KEY=VALUE'],
    [['--quick'], "unknown option '--quick'"],
  ])('ends with 2 for %j', async (parameters, said) => {
    const { code, stdout, stderr } = await run(parameters, KEYS);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(said)]);
  });
});
