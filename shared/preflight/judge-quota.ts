import type { QuotaId } from './aws-answers.ts';
import type { Judgement } from './check.ts';
import { quotaLink } from './quota-link.ts';

interface HeldQuota {
  readonly region: string;
  readonly id: QuotaId;
  readonly name: string;
  readonly added: number;
  readonly used: number;
  readonly most: number;
}

/** Checks whether an addition fits, and says what to request. */
export function judgeQuota({ region, id, name, added, used, most }: HeldQuota): Judgement {
  const found = `${used} of ${most} used`;
  if (used + added <= most) return { verdict: 'ok', found };
  const todo = `Ask AWS for ${used + added} or more of "${name}"`;
  return { verdict: 'FAIL', found, todo, link: quotaLink(region, id) };
}
