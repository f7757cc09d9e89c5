import type { IndexProblem } from '../../../shared/index/verify.ts';

/** How many entries are not as the cells say. */
export type Problems = Record<IndexProblem['kind'], number>;

export const KINDS = ['missing', 'extra', 'wrong'] as const;

export function noProblems(): Problems {
  return { missing: 0, extra: 0, wrong: 0 };
}

export function total(problems: Problems): number {
  return KINDS.reduce((sum, kind) => sum + problems[kind], 0);
}

/** "0 missing, 0 extra, 0 wrong" */
export function problemsText(problems: Problems): string {
  return KINDS.map((kind) => `${problems[kind].toLocaleString('en-US')} ${kind}`).join(', ');
}
