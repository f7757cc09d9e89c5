import type { Json } from '../../../shared/cell.ts';
import { dateTime, HOUR, MINUTE, SECOND } from './clock.ts';
import type { TripFacts } from './facts.ts';
import { Random } from './random.ts';

export interface LateBody {
  /** When it is written, in milliseconds since 1970. */
  readonly at: number;
  readonly body: Json;
}

const REASONS = ['card_declined', 'insufficient_funds', 'card_expired', 'processor_timeout'] as const;

/** The STATUS cells of a trip, one per attempt to bill it: 95 % succeed at once, 4 % at the second, 1 % fail three times. */
export function billingAttempts(seed: string, facts: TripFacts, total: number): readonly LateBody[] {
  const random = new Random(seed, 'billing', facts.n);
  const luck = random.next();
  const failures = luck < 0.95 ? 0 : luck < 0.99 ? 1 : 3;
  const attempts = failures === 3 ? 3 : failures + 1;
  let at = Math.max(facts.pickedUpAt, facts.droppedOffAt) + random.integer(1, 40) * SECOND;
  return Array.from({ length: attempts }, (_, attempt) => {
    const failed = attempt < failures;
    const written = at;
    at += random.between(15 * MINUTE, 6 * HOUR);
    return {
      at: written,
      body: {
        is_completed: !failed,
        attempt: attempt + 1,
        amount: total,
        currency: 'USD',
        method: random.chance(0.85) ? 'card' : 'wallet',
        ...(failed ? { error: random.pick(REASONS) } : { receipt: `R${random.integer(10_000_000, 99_999_999)}` }),
        billed_at: dateTime(written),
      },
    };
  });
}
