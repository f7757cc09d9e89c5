import type { Json } from '../../../shared/cell.ts';
import { dateTime, SECOND } from './clock.ts';
import type { TripFacts } from './facts.ts';
import { Random } from '../random.ts';
import { placeOf } from './zones.ts';

/** How much is kept of a trip: about 2 KB of JSON, or the 20 KB that a trip has with all its positions and events. */
export type TripSize = 'usual' | 'uber';

const COUNTS = { usual: { points: 7, updates: 1 }, uber: { points: 240, updates: 45 } } as const;

/** Positions between pick-up and drop-off, evenly spread over the trip; `at` in seconds since pick-up. */
export function tripRoute(seed: string, facts: TripFacts, size: TripSize): readonly Json[] {
  const random = new Random(seed, 'route', facts.n);
  const [fromLatitude, fromLongitude] = placeOf(facts.pickUp);
  const [toLatitude, toLongitude] = placeOf(facts.dropOff);
  const { points } = COUNTS[size];
  return Array.from({ length: points }, (_, point) => {
    const part = point / (points - 1);
    return {
      at: Math.round(part * facts.seconds),
      lat: degrees(fromLatitude + part * (toLatitude - fromLatitude) + random.between(-0.002, 0.002)),
      lng: degrees(fromLongitude + part * (toLongitude - fromLongitude) + random.between(-0.002, 0.002)),
      mph: Math.round(random.between(0, 32)),
      heading: random.integer(0, 359),
    };
  });
}

/** What happened, in the order of the records' own clocks. */
export function tripEvents(seed: string, facts: TripFacts, size: TripSize): readonly Json[] {
  const random = new Random(seed, 'events', facts.n);
  const updates = Array.from({ length: COUNTS[size].updates }, (_, update) => ({
    type: 'eta_updated',
    at: dateTime(facts.pickedUpAt + update * 20 * SECOND),
    seconds_left: Math.max(0, facts.seconds - update * 20 + random.integer(-60, 60)),
  }));
  return [
    { type: 'requested', at: dateTime(facts.requestedAt) },
    {
      type: 'dispatched',
      at: dateTime(facts.requestedAt + random.integer(2, 20) * SECOND),
      offers: random.integer(1, 3),
    },
    { type: 'picked_up', at: dateTime(facts.pickedUpAt) },
    ...updates,
    { type: 'dropped_off', at: dateTime(facts.droppedOffAt) },
  ];
}

/** Five decimals: about a metre. */
function degrees(value: number): number {
  return Math.round(value * 1e5) / 1e5;
}
