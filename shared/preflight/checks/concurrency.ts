import { LOOPS_AT_ONCE } from '../../loops-at-once.ts';
import type { ChecksOf } from '../check.ts';
import { resourcesOf } from '../needs.ts';
import { askFor } from './quotas.ts';

const QUOTA = { service: 'lambda', code: 'L-B99A9384' };
const NAME = 'Concurrent executions';
/** Lambda's minimum of unreserved instances. */
const LEFT_UNRESERVED = 100;
/** At least one instance for requests, next to the loops. */
const FOR_REQUESTS = 1;

/** Checks instances: reserved ones and those of loops. */
export const concurrencyChecks: ChecksOf = (needs) => {
  const reserved = resourcesOf(needs, 'AWS::Lambda::Function')
    .map(({ properties }) => Number(properties['ReservedConcurrentExecutions'] ?? 0))
    .reduce((sum, count) => sum + count, 0);
  const loops = resourcesOf(needs, 'AWS::Scheduler::Schedule').length * LOOPS_AT_ONCE;
  const left = reserved > 0 ? Math.max(LEFT_UNRESERVED, loops + FOR_REQUESTS) : loops + FOR_REQUESTS;
  const wanted = reserved + left;
  return [
    {
      name: 'Lambda: concurrent executions',
      wanted: reserved > 0 ? `${reserved} to reserve, ${left} to be left` : `${left} unreserved`,
      async judge(aws) {
        const { limit, unreserved } = await aws.concurrency();
        const found = `${unreserved} unreserved of ${limit}`;
        if (unreserved >= wanted) return { verdict: 'ok', found };
        return { verdict: 'FAIL', found, ...askFor(aws.region, QUOTA, NAME, limit + wanted - unreserved) };
      },
    },
  ];
};
