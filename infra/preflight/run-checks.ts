import type { AwsAnswers } from './aws-answers.ts';
import type { Check, ChecksOf, Finding, Judgement } from './check.ts';
import { accountCheck } from './checks/account.ts';
import { bootstrapChecks } from './checks/bootstrap.ts';
import { concurrencyChecks } from './checks/concurrency.ts';
import { engineChecks } from './checks/engine.ts';
import { nameChecks } from './checks/names.ts';
import { rdsQuotaChecks } from './checks/rds-quotas.ts';
import { resourceTypeChecks } from './checks/resource-types.ts';
import { stackChecks } from './checks/stacks.ts';
import { vpcQuotaChecks } from './checks/vpc-quotas.ts';
import { zoneChecks } from './checks/zones.ts';
import type { Needs } from './needs.ts';
import { Unanswered } from './unanswered.ts';

const CHECKS: readonly ChecksOf[] = [
  bootstrapChecks,
  stackChecks,
  nameChecks,
  concurrencyChecks,
  rdsQuotaChecks,
  vpcQuotaChecks,
  zoneChecks,
  engineChecks,
  resourceTypeChecks,
];

/** Makes all checks, each on its own. Where nobody is known to AWS only the first one is made: no other could be. */
export async function runChecks(needs: Needs, aws: AwsAnswers): Promise<readonly Finding[]> {
  const first = await made(accountCheck(needs), aws);
  if (first.verdict === 'unknown') return [first];
  const others = CHECKS.flatMap((checksOf) => checksOf(needs));
  return [first, ...(await Promise.all(others.map((check) => made(check, aws))))];
}

async function made(check: Check, aws: AwsAnswers): Promise<Finding> {
  return { check: check.name, wanted: check.wanted, ...(await judged(check, aws)) };
}

async function judged(check: Check, aws: AwsAnswers): Promise<Judgement> {
  try {
    return await check.judge(aws);
  } catch (error) {
    if (error instanceof Unanswered) return notAnswered(error);
    throw error;
  }
}

function notAnswered({ action, obstacle, message }: Unanswered): Judgement {
  const said = message.replaceAll(/\s+/gu, ' ').trim();
  const verdict = 'unknown';
  if (obstacle === 'rights')
    return { verdict, found: `no right to ask: ${action}`, todo: `Allow ${action}, or ask somebody who may` };
  if (obstacle === 'credentials')
    return {
      verdict,
      found: `not let in: ${said}`,
      todo: 'Log in, or name a profile; the region may have to be enabled',
    };
  if (obstacle === 'throttled') return { verdict, found: `asked too often: ${action}`, todo: 'Try again in a minute' };
  return { verdict, found: `${action}: ${said}`, todo: 'Try again once that is mended' };
}
