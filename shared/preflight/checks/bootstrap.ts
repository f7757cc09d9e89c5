import type { ChecksOf } from '../check.ts';

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
