import type { LateBody } from './late-body.ts';
import { DAY, dateTime, HOUR } from './clock.ts';
import type { TripFacts } from './facts.ts';
import { cents } from './fare.ts';
import { Random } from '../random.ts';

const REASONS = ['inefficient route', 'toll not paid', 'cleaning fee', 'cancelled by the driver', 'promotion'] as const;

/**
 * The FARE ADJUSTMENT cells of a trip, a list: 1 to 2 % of trips have one or two; a dirty record has one more often.
 */
export function fareAdjustments(seed: string, facts: TripFacts, total: number): readonly LateBody[] {
  const random = new Random(seed, 'fare adjustments', facts.n);
  if (!random.chance(facts.blemish === undefined ? 0.012 : 0.25)) return [];
  let at = Math.max(facts.pickedUpAt, facts.droppedOffAt);
  return Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => {
    at += random.between(HOUR, 3 * DAY);
    return {
      at,
      body: {
        reason: facts.blemish ?? random.pick(REASONS),
        amount: cents(0 - total * random.pick([0.1, 0.25, 0.5, 1])),
        currency: 'USD',
        agent: `agent-${random.integer(1, 40)}`,
        adjusted_at: dateTime(at),
      },
    };
  });
}
