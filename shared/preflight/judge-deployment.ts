import { setTimeout as sleep } from 'node:timers/promises';
import type { AwsAnswers } from './aws-answers.ts';
import type { ChecksOf, Finding } from './check.ts';
import { concurrencyChecks } from './checks/concurrency.ts';
import { engineChecks } from './checks/engine.ts';
import { nameChecks } from './checks/names.ts';
import { rdsQuotaChecks } from './checks/rds-quotas.ts';
import { vpcQuotaChecks } from './checks/vpc-quotas.ts';
import { zoneChecks } from './checks/zones.ts';
import {
  added,
  allWithNewSubnets,
  moreReserved,
  touched,
  touchedProperties,
  type DeployedResources,
  type DeploymentChange,
} from './deployment-change.ts';
import { makeCheck } from './make-check.ts';
import type { NeededResource } from './needs.ts';

interface Deployment {
  readonly stack: string;
  readonly wanted: DeployedResources;
  /** Undefined for a new custom resource. */
  readonly before: DeployedResources | undefined;
}

/** Checks of a deployment, and their resources. */
const JUDGED: readonly {
  readonly checksOf: ChecksOf;
  readonly of: (change: DeploymentChange) => readonly NeededResource[];
}[] = [
  { checksOf: nameChecks, of: touchedProperties },
  { checksOf: concurrencyChecks, of: moreReserved },
  { checksOf: rdsQuotaChecks, of: added },
  { checksOf: vpcQuotaChecks, of: added },
  { checksOf: zoneChecks, of: allWithNewSubnets },
  { checksOf: engineChecks, of: touched },
];

/** Checks what a deployment adds; late answers are unknown. Throws Unanswered without the stack's state. */
export async function judgeDeployment(
  deployment: Deployment,
  aws: AwsAnswers,
  timeMs: number,
): Promise<readonly Finding[]> {
  const late = sleep(timeMs, undefined, { ref: false });
  const change = await Promise.race([changeOf(deployment, aws), late]);
  if (!change) return [];
  const checks = JUDGED.flatMap(({ checksOf, of }) => {
    const resources = of(change);
    return resources.length === 0 ? [] : checksOf({ environment: '', stacks: [], resources });
  });
  return Promise.all(
    checks.map(async (check) => {
      const tooLate = late.then((): Finding => {
        const { name, wanted } = check;
        return { check: name, wanted, verdict: 'unknown', found: 'no answer in time' };
      });
      return Promise.race([makeCheck(check, aws), tooLate]);
    }),
  );
}

/** Undefined for a rollback, which only restores. */
async function changeOf({ stack, wanted, before }: Deployment, aws: AwsAnswers): Promise<DeploymentChange | undefined> {
  const status = await aws.stackStatus(stack);
  if (status === 'CREATE_IN_PROGRESS') return { before: {}, after: wanted };
  if (status !== 'UPDATE_IN_PROGRESS') return undefined;
  if (before) return { before, after: wanted };
  // A new store in an existing stack, or one older than the preflight.
  const there = new Set(await aws.stackResources(stack));
  const isThere = Object.entries(wanted).some(([id, { type }]) => type === 'AWS::RDS::DBCluster' && there.has(id));
  return isThere ? undefined : { before: {}, after: wanted };
}
