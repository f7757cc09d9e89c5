import { setTimeout as sleep } from 'node:timers/promises';
import type { AwsAnswers } from './aws-by-sdk.ts';
import { type ChecksOf, type Finding, makeCheck } from './check.ts';
import { backupChecks } from './checks/backups.ts';
import { concurrencyChecks } from './checks/concurrency.ts';
import { engineChecks } from './checks/engine.ts';
import { nameChecks } from './checks/names.ts';
import { quotaChecks } from './checks/quotas.ts';
import { zoneChecks } from './checks/zones.ts';
import type { NeededResource } from './needs.ts';
import { isDeepStrictEqual } from 'node:util';

interface Deployment {
  readonly stack: string;
  readonly wanted: DeployedResources;
  /** Undefined for a new custom resource. */
  readonly before: DeployedResources | undefined;
}

/** Checks of a deployment, and their resources. */
export const JUDGED: readonly {
  readonly checksOf: ChecksOf;
  readonly of: (change: DeploymentChange) => readonly NeededResource[];
}[] = [
  { checksOf: nameChecks, of: touchedProperties },
  { checksOf: concurrencyChecks, of: moreReserved },
  { checksOf: quotaChecks, of: added },
  { checksOf: zoneChecks, of: allWithNewSubnets },
  { checksOf: engineChecks, of: touched },
  { checksOf: backupChecks, of: added },
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
    return resources.length === 0 ? [] : checksOf({ stacks: [], resources });
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

export type DeployedResources = Readonly<Record<string, NeededResource>>;

/** The resources before and after a deployment. */
interface DeploymentChange {
  readonly before: DeployedResources;
  readonly after: DeployedResources;
}

const FUNCTION = 'AWS::Lambda::Function';

function added({ before, after }: DeploymentChange): readonly NeededResource[] {
  return Object.entries(after).flatMap(([id, resource]) => (before[id] === undefined ? resource : []));
}

function touched({ before, after }: DeploymentChange): readonly NeededResource[] {
  return Object.entries(after).flatMap(([id, resource]) => (isDeepStrictEqual(before[id], resource) ? [] : resource));
}

/** The same with new properties only. */
function touchedProperties({ before, after }: DeploymentChange): readonly NeededResource[] {
  return Object.entries(after).map(([id, { type, properties }]) => {
    const isNew = ([name, value]: [string, unknown]): boolean =>
      !isDeepStrictEqual(before[id]?.properties[name], value);
    return { type, properties: Object.fromEntries(Object.entries(properties).filter(isNew)) };
  });
}

/** All resources if subnets change, since zones depend on each other. */
function allWithNewSubnets(change: DeploymentChange): readonly NeededResource[] {
  const isNew = Object.keys(change.before).length === 0;
  const moves = touched(change).some(({ type }) => type === 'AWS::EC2::Subnet');
  return isNew || moves ? Object.values(change.after) : [];
}

/** Newly reserved instances, with all schedules. Empty if no more are reserved. */
function moreReserved({ before, after }: DeploymentChange): readonly NeededResource[] {
  const more = reservedIn(after) - reservedIn(before);
  if (more <= 0) return [];
  const schedules = Object.values(after).filter(({ type }) => type === 'AWS::Scheduler::Schedule');
  return [{ type: FUNCTION, properties: { ReservedConcurrentExecutions: more } }, ...schedules];
}

function reservedIn(resources: DeployedResources): number {
  return Object.values(resources)
    .filter(({ type }) => type === FUNCTION)
    .reduce((sum, { properties }) => sum + Number(properties['ReservedConcurrentExecutions'] ?? 0), 0);
}
