import { expect, it } from 'vitest';
import type { Finding } from '../../../shared/preflight/check.ts';
import { judgeDeployment } from '../../../shared/preflight/judge-deployment.ts';
import { refusalOf } from '../../../shared/preflight/refusal.ts';
import { goodAccount } from './good-account.ts';

const stack = 'arn:aws:cloudformation:eu-west-1:123456789012:stack/one/1';
const wanted = { network: { type: 'AWS::EC2::VPC', properties: {} } };
const stackStatus = async () => 'CREATE_IN_PROGRESS';
const never = (): Promise<never> => new Promise(() => undefined);

it('a check without an answer in time is unknown, and others are judged', async () => {
  const account = goodAccount({ stackStatus, vpcs: never });
  const findings = await judgeDeployment({ stack, wanted, before: undefined }, account, 50);
  expect(findings.map(({ check, verdict, found }) => [check, verdict, found])).toEqual([
    ['VPC: VPCs per Region', 'unknown', 'no answer in time'],
    ['availability zones', 'ok', expect.any(String)],
  ]);
});

it('nothing is judged where it is not said in time what becomes of the stack', async () => {
  const account = goodAccount({ stackStatus: never });
  expect(await judgeDeployment({ stack, wanted, before: undefined }, account, 50)).toEqual([]);
});

it('no refusal is longer than CloudFormation takes: long reasons are cut, and those left out are counted', () => {
  const failure = (at: number): Finding => ({
    check: `names of things ${at}`,
    wanted: 'free',
    verdict: 'FAIL',
    found: `taken: ${'łódź, '.repeat(100)}`,
  });
  const output = refusalOf(Array.from({ length: 20 }, (_, at) => failure(at)));
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(3000);
  expect(output).toMatch(/for 20 reasons: 1\) names of things 0: .*\.\.\. 2\) .*and \d+ more, in the log$/u);
  expect(refusalOf([failure(0)])).not.toContain('more');
});
