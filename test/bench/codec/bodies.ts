import type { Json } from '../../../shared/cell.ts';
import { baseBody } from '../../support/trips/base.ts';
import { tripFacts } from '../../support/trips/facts.ts';
import type { TripSize } from '../../support/trips/journey.ts';

/** What of a trip is kept in a cell, by about how large that is as JSON. */
const KEPT = {
  '0.3 KB': [
    'driver_partner_uuid',
    'rider_uuid',
    'request_datetime',
    'pickup_datetime',
    'PULocationID',
    'DOLocationID',
    'trip_miles',
    'trip_time',
    'driver_pay',
  ],
  '1 KB': 'all but what happened and the way it went',
  '20 KB': 'all',
} as const satisfies Record<string, readonly string[] | string>;

export type BodySize = keyof typeof KEPT;
export const BODY_SIZES = Object.keys(KEPT) as readonly BodySize[];

/** Bodies of trips, always the same for the same seed, from trip `first` on. */
export function bodiesOf(size: BodySize, seed: string, first: number, count: number): readonly Json[] {
  const detail: TripSize = size === '20 KB' ? 'uber' : 'usual';
  return Array.from({ length: count }, (_, position) =>
    kept(size, baseBody(seed, tripFacts(seed, first + position), detail)),
  );
}

function kept(size: BodySize, trip: { readonly [field: string]: Json }): Json {
  if (size === '20 KB') return trip;
  if (size === '0.3 KB') return Object.fromEntries(KEPT[size].map((field) => [field, trip[field] ?? null]));
  const { events: _events, route: _route, ...record } = trip;
  return record;
}
