import type { ChecksOf, Judgement } from '../check.ts';

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

/** True for a finished stack, whatever its last change. */
export function isStanding(status: string | undefined): boolean {
  return status !== undefined && status.endsWith('_COMPLETE') && status !== 'ROLLBACK_COMPLETE';
}
