import type { AwsAnswers } from './aws-by-sdk.ts';
import { type ChecksOf, type Finding, makeCheck } from './check.ts';
import { accountCheck, bootstrapChecks, resourceTypeChecks, stackChecks } from './checks/first-deployment.ts';
import { JUDGED } from './judge-deployment.ts';
import type { Needs } from './needs.ts';

const CHECKS: readonly ChecksOf[] = [
  bootstrapChecks,
  stackChecks,
  ...JUDGED.map(({ checksOf }) => checksOf),
  resourceTypeChecks,
];

/** Makes all checks; without credentials only the first. */
export async function runChecks(needs: Needs, aws: AwsAnswers): Promise<readonly Finding[]> {
  const first = await makeCheck(accountCheck(needs), aws);
  if (first.verdict === 'unknown') return [first];
  const others = CHECKS.flatMap((checksOf) => checksOf(needs));
  return [first, ...(await Promise.all(others.map((check) => makeCheck(check, aws))))];
}
