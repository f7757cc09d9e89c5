import type { AwsAnswers } from './aws-answers.ts';
import type { Needs } from './needs.ts';

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
