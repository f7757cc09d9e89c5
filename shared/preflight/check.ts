import type { AwsAnswers } from './aws-by-sdk.ts';
import type { Needs } from './needs.ts';
import { Unanswered } from './unanswered.ts';

/** `unknown`: AWS did not say, or its answer proves nothing. */
export type Verdict = 'ok' | 'FAIL' | 'unknown';

export interface Judgement {
  readonly verdict: Verdict;
  readonly found: string;
  readonly todo?: string;
  readonly link?: string;
}

/** One question to AWS, one line of the table. */
export interface Check {
  readonly name: string;
  readonly wanted: string;
  /** Throws Unanswered if AWS does not say. */
  readonly judge: (aws: AwsAnswers) => Promise<Judgement>;
}

/** Empty if the environment has nothing of the kind. */
export type ChecksOf = (needs: Needs) => readonly Check[];

export interface Finding extends Judgement {
  readonly check: string;
  readonly wanted: string;
}

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
  const text = message.replaceAll(/\s+/gu, ' ').trim();
  const verdict = 'unknown';
  if (obstacle === 'rights')
    return { verdict, found: `no right to ask: ${action}`, todo: `Allow ${action}, or ask a person with that right` };
  if (obstacle === 'credentials')
    return {
      verdict,
      found: `not let in: ${text}`,
      todo: 'Log in, or name a profile; the region may have to be enabled',
    };
  if (obstacle === 'throttled') return { verdict, found: `asked too often: ${action}`, todo: 'Try again in a minute' };
  return { verdict, found: `${action}: ${text}`, todo: 'Try again once that is fixed' };
}
