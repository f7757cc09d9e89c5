import type { AwsAnswers } from './aws-answers.ts';
import type { Check, Finding, Judgement } from './check.ts';
import { Unanswered } from './unanswered.ts';

/** Unanswered questions are unknown, and block no other check. */
export async function makeCheck(check: Check, aws: AwsAnswers): Promise<Finding> {
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
