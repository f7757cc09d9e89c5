import type { Check } from '../check.ts';
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
