import type { AwsAnswers } from './aws-answers.ts';
import type { Needs } from './needs.ts';

/** `unknown`: AWS did not say, or what it said proves nothing. */
export type Verdict = 'ok' | 'FAIL' | 'unknown';

export interface Judgement {
  readonly verdict: Verdict;
  /** What AWS said, in few words. */
  readonly found: string;
  /** What to do about it. */
  readonly todo?: string;
  /** Where that is done. */
  readonly link?: string;
}

/** One question to AWS, one line of the table. */
export interface Check {
  readonly name: string;
  /** What the environment needs. */
  readonly wanted: string;
  /** @throws Unanswered where AWS does not say */
  readonly judge: (aws: AwsAnswers) => Promise<Judgement>;
}

/** The checks that an environment needs: none where it has nothing of the kind. */
export type ChecksOf = (needs: Needs) => readonly Check[];

export interface Finding extends Judgement {
  readonly check: string;
  readonly wanted: string;
}
