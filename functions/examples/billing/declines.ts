import { hash } from 'node:crypto';

/** Of a hundred charges that are declined, two are of cards that go on declining for a while. */
const STUBBORN_SHARE = 0.02;
/** As many as a trigger makes by default: the cell is parked, and billed when it is sent again. */
const STUBBORN_ATTEMPTS = 5;
const REASONS = ['card_declined', 'insufficient_funds', 'card_expired', 'processor_timeout'] as const;

/**
 * Why a simulated card declines an attempt; undefined when it does not. Always the same for the same key and attempt,
 * so that a message that comes twice finds the same world. `rate`: the share of attempts declined, 0 to 1.
 */
export function declineReason(idempotencyKey: string, attempt: number, rate: number): string | undefined {
  const stubborn = share(`${idempotencyKey} stubborn`) < rate * STUBBORN_SHARE && attempt <= STUBBORN_ATTEMPTS;
  if (!stubborn && share(`${idempotencyKey} ${attempt}`) >= rate) return undefined;
  return REASONS[Math.floor(share(`${idempotencyKey} reason`) * REASONS.length)];
}

/** 0 up to, but not including, 1: evenly spread over all texts. */
function share(text: string): number {
  return Number.parseInt(hash('sha256', text, 'hex').slice(0, 8), 16) / 2 ** 32;
}
