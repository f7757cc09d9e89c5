import type { Check, ChecksOf, Judgement } from '../check.ts';
import { sideBySide } from '../../side-by-side.ts';
import type { Needs } from '../needs.ts';

/** Compares the caller's account and region with the environment's. */
export function accountCheck({ stacks }: Needs): Check {
  const accounts = namedIn(stacks.map(({ account }) => account));
  const regions = namedIn(stacks.map(({ region }) => region));
  return {
    name: 'account and region',
    wanted: `${accounts.join(', ') || 'any account'} in ${regions.join(', ') || 'any region'}`,
    async judge(aws) {
      const account = await aws.account();
      const found = `${account} in ${aws.region}`;
      if (isAmong(account, accounts) && isAmong(aws.region, regions)) return { verdict: 'ok', found };
      return { verdict: 'FAIL', found, todo: 'Use the profile and the region that the environment is bound to' };
    },
  };
}

function isAmong(name: string, wanted: readonly string[]): boolean {
  return wanted.length === 0 || wanted.includes(name);
}

function namedIn(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== undefined))];
}

/** Checks the version of the CDK's bootstrap. */
export const bootstrapChecks: ChecksOf = ({ stacks }) => {
  const least = new Map<string, number>();
  for (const { bootstrap } of stacks)
    if (bootstrap) least.set(bootstrap.parameter, Math.max(bootstrap.version, least.get(bootstrap.parameter) ?? 0));
  return [...least].map(([parameter, version]) => ({
    name: 'CDK bootstrap',
    wanted: `version ${version} or later`,
    async judge(aws) {
      const value = await aws.parameter(parameter);
      const found = value === undefined ? `no ${parameter}` : `version ${value}`;
      if (Number(value) >= version) return { verdict: 'ok', found };
      return { verdict: 'FAIL', found, todo: `npx cdk bootstrap aws://${await aws.account()}/${aws.region}` };
    },
  }));
};

/** A first deployment needs stacks that do not exist. */
export const stackChecks: ChecksOf = ({ stacks }) =>
  stacks.map(({ name }) => ({
    name: `stack ${name}`,
    wanted: 'none yet',
    judge: async (aws) => judgeStatus(name, await aws.stackStatus(name)),
  }));

function judgeStatus(name: string, status: string | undefined): Judgement {
  if (status === undefined) return { verdict: 'ok', found: 'none' };
  // A change set that was never executed: the CDK continues it.
  if (status === 'REVIEW_IN_PROGRESS') return { verdict: 'ok', found: status };
  if (status.endsWith('_IN_PROGRESS'))
    return { verdict: 'FAIL', found: status, todo: 'Wait until what is under way has ended' };
  if (!isStanding(status))
    return {
      verdict: 'FAIL',
      found: status,
      todo: `Delete ${name} (its termination protection first), then what it kept: clusters, tables, secrets, log groups`,
    };
  return {
    verdict: 'unknown',
    found: status,
    todo: 'It is deployed already; the quotas below count what it has, and want as much again',
  };
}

/** True for a stack that a deployment can change: one that failed without a rollback, too. */
export function isStanding(status: string | undefined): boolean {
  return (
    status !== undefined && /(?:_COMPLETE|^(?:CREATE|UPDATE)_FAILED)$/u.test(status) && status !== 'ROLLBACK_COMPLETE'
  );
}

/** Custom resources and the CDK's metadata. */
const OF_NO_SERVICE = /^(?:Custom::|AWS::CDK::|AWS::CloudFormation::CustomResource)/u;

/** Checks that the region offers every resource type: few at once, as CloudFormation answers few requests a second. */
export const resourceTypeChecks: ChecksOf = ({ resources }) => {
  const types = [...new Set(resources.map(({ type }) => type))].filter((type) => !OF_NO_SERVICE.test(type)).toSorted();
  const services = new Set(types.map((type) => type.split('::')[1]));
  return [
    {
      name: 'services',
      wanted: `${types.length} types of resources, of ${services.size} services`,
      async judge(aws) {
        const offered = new Set<string>();
        await sideBySide(types, async (type) => void ((await aws.offersType(type)) && offered.add(type)));
        const missing = types.filter((type) => !offered.has(type));
        if (missing.length === 0) return { verdict: 'ok', found: 'all' };
        return { verdict: 'FAIL', found: `not here: ${missing.join(', ')}`, todo: 'Take another region' };
      },
    },
  ];
};
