import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { AwsBySdk } from '../../../shared/preflight/aws-by-sdk.ts';
import { preflight } from '../../../infra/preflight/command.ts';
import { EXIT_CODES, verdictOf } from '../../../infra/preflight/report.ts';
import { runChecks } from '../../../shared/preflight/run-checks.ts';
import { STAND_INS } from '../support/synthesized.ts';
import { refusal, result, startFakeAws, type FakeAnswers } from './fake-aws.ts';
import { GOOD, concurrent, member, SERVICES, version } from './good-answers.ts';
import { needsOfEnvironment } from './needs-of-environment.ts';

const ENTRY = join(PROJECT_ROOT, 'infra/preflight/command.ts');
const ACCOUNT = {
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_REGION: 'eu-west-1',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/nonexistent',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent',
};

/** Replaces the AWS settings of the user that runs the tests. */
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(ACCOUNT)) vi.stubEnv(name, value);
});
afterEach(() => void vi.unstubAllEnvs());

async function run(...parameters: readonly string[]) {
  let [stdout, stderr] = ['', ''];
  const code = await preflight(parameters, {
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
  });
  return { code, stdout, stderr };
}

async function against(answers: FakeAnswers) {
  const aws = await startFakeAws(answers);
  for (const service of SERVICES) vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, aws.url);
  return aws;
}

async function checkAgainst(answers: FakeAnswers) {
  await using aws = await against(answers);
  const findings = await runChecks(needsOfEnvironment('prod'), new AwsBySdk({ region: ACCOUNT.AWS_REGION }));
  return {
    code: EXIT_CODES[verdictOf(findings)],
    troubles: findings.filter(({ verdict }) => verdict !== 'ok'),
    asked: aws.asked,
  };
}

describe('the command, with a fake AWS', () => {
  it('finds nothing wrong with a good account, and prints a table', async () => {
    await using aws = await against(GOOD);
    const { code, stdout, stderr } = await run('-c', 'environment=prod', '-c', `functions=${STAND_INS}`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^account and region +any account in any region +123456789012 in eu-west-1 +ok$/mu);
    expect(stdout).toMatch(/^prod: nothing stands in the way .*0 FAIL, 0 unknown\)$/mu);
    // One question for all that it answers, page by page.
    expect([aws.asked.get('DescribeAccountAttributes'), aws.asked.get('DescribeDBClusters')]).toEqual([1, 2]);
  });

  it('prints JSON, and ends with 1 for an old bootstrap', async () => {
    await using _ = await against({ ...GOOD, GetParameter: [version('5')] });
    const { code, stdout } = await run('-c', 'environment=dev', '-c', `functions=${STAND_INS}`, '--json');
    const { verdict, checks } = JSON.parse(stdout) as { verdict: string; checks: readonly { verdict: string }[] };
    expect([code, verdict]).toEqual([1, 'FAIL']);
    expect(checks.filter((one) => one.verdict !== 'ok')).toEqual([
      expect.objectContaining({ check: 'CDK bootstrap', verdict: 'FAIL', found: 'version 5' }),
    ]);
  });
});

describe('the checks, with a fake AWS', () => {
  it('repeat a request that AWS throttles', async () => {
    const throttled = { status: 429, body: { __type: 'TooManyRequestsException', message: 'Rate exceeded' } };
    const { code, troubles, asked } = await checkAgainst({
      ...GOOD,
      GetAccountSettings: [throttled, throttled, concurrent(10)],
    });
    expect(code).toBe(1);
    expect(troubles).toEqual([
      expect.objectContaining({
        check: 'Lambda: concurrent executions',
        verdict: 'FAIL',
        found: '10 unreserved of 10',
        link: expect.stringContaining('/lambda/quotas/L-B99A9384'),
      }),
    ]);
    expect(asked.get('GetAccountSettings')).toBe(3);
  });

  it('end with 2 for missing rights, name each, and go on; with 1 where something is wrong for sure', async () => {
    const denied = (action: string): string =>
      `User: arn:aws:iam::123456789012:user/ann is not authorized to perform: ${action}`;
    const answers: FakeAnswers = {
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
    for (const { todo, found } of troubles) expect(todo).toContain(found.split(': ')[1]);
    expect((await checkAgainst({ ...answers, GetAccountSettings: [concurrent(10)] })).code).toBe(1);
  });

  it('end with 1 for no bootstrap, no such engine, no such type, and a stack that failed', async () => {
    const failed = member('<StackName>one</StackName><StackStatus>ROLLBACK_COMPLETE</StackStatus>');
    const { code, troubles } = await checkAgainst({
      ...GOOD,
      GetParameter: [{ status: 400, body: { __type: 'ParameterNotFound', message: 'none' } }],
      DescribeDBEngineVersions: [refusal('InvalidParameterCombination', 'Cannot find version')],
      DescribeType: [refusal('TypeNotFoundException', 'none', 404)],
      DescribeStacks: [result('DescribeStacks', `<Stacks>${failed}</Stacks>`)],
    });
    expect(code).toBe(1);
    expect(troubles.map(({ check, verdict }) => [check, verdict])).toEqual([
      ['CDK bootstrap', 'FAIL'],
      ['stack Schemaless-prod-storage', 'FAIL'],
      ['stack Schemaless-prod-service', 'FAIL'],
      ['engine version', 'FAIL'],
      ['services', 'FAIL'],
    ]);
  });

  it('end with 2 and ask nothing more without credentials that AWS knows', async () => {
    const answers = { ...GOOD, GetCallerIdentity: [refusal('InvalidClientTokenId', 'The token is invalid', 403)] };
    const { code, troubles, asked } = await checkAgainst(answers);
    expect([code, [...asked.keys()]]).toEqual([2, ['GetCallerIdentity']]);
    expect(troubles).toEqual([expect.objectContaining({ found: 'not let in: The token is invalid' })]);
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, undefined);
    const without = await checkAgainst(GOOD);
    expect([without.code, without.asked.size]).toEqual([2, 0]);
    expect(without.troubles).toEqual([expect.objectContaining({ found: expect.stringContaining('not let in') })]);
  });
});

describe('the command ends with 2', () => {
  it.each([
    [[], 'environment: wanted one of'],
    [['-c', 'environment=local'], 'which runs on one machine'],
    [['-c', 'environment=prod', '-c', 'groups=3'], 'groups: wanted nothing'],
    [['-c', 'enviroment=prod'], 'Wanted KEY=VALUE'],
    [['--quick'], "unknown option '--quick'"],
  ])('for %j', async (parameters, output) => {
    expect(await run(...parameters)).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(output) });
  });

  it('without a region', async () => {
    vi.stubEnv('AWS_REGION', undefined);
    const { code, stderr } = await run('-c', 'environment=prod');
    expect([code, stderr]).toEqual([2, expect.stringContaining('wanted a region')]);
  });

  it('as a process', async () => {
    const ran = promisify(execFile)(process.execPath, [ENTRY, '-c', 'environment=local']);
    await expect(ran).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('which runs on one machine') });
  });
});
