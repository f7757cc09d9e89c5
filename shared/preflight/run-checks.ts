import type { AwsAnswers } from './aws-answers.ts';
import type { ChecksOf, Finding } from './check.ts';
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
import { makeCheck } from './make-check.ts';
import type { Needs } from './needs.ts';

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

/** Makes all checks; without credentials only the first. */
export async function runChecks(needs: Needs, aws: AwsAnswers): Promise<readonly Finding[]> {
  const first = await makeCheck(accountCheck(needs), aws);
  if (first.verdict === 'unknown') return [first];
  const others = CHECKS.flatMap((checksOf) => checksOf(needs));
  return [first, ...(await Promise.all(others.map((check) => makeCheck(check, aws))))];
}
