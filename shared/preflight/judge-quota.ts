import type { QuotaId } from './aws-answers.ts';
import type { Judgement } from './check.ts';
import { quotaLink } from './quota-link.ts';

interface HeldQuota {
  readonly region: string;
  readonly id: QuotaId;
  /** As the console names it. */
  readonly name: string;
  readonly added: number;
  /** By whatever is there already. */
  readonly used: number;
  readonly most: number;
}

/** Says whether what is to be added fits, and what to ask for where it does not. */
export function judgeQuota({ region, id, name, added, used, most }: HeldQuota): Judgement {
  const found = `${used} of ${most} used`;
  if (used + added <= most) return { verdict: 'ok', found };
  const todo = `Ask AWS for ${used + added} or more of "${name}"`;
  return { verdict: 'FAIL', found, todo, link: quotaLink(region, id) };
}
