import type { Json } from '../../../shared/cell.ts';
import { Random } from '../random.ts';
import { identity } from './identity.ts';
import { anyZone, placeOf, type Zone } from './zones.ts';

/** The size of a trip: about 2 KB of JSON, or the 20 KB that a trip has with all its positions and events. */
export type TripSize = 'usual' | 'uber';

/** Errors of a dirty record. Real data has 1 to 3 % of these, and a store has to keep them as they come. */
const BLEMISHES = ['negative fare', 'zero distance', 'drop-off before pick-up'] as const;

/** The facts of one trip, from which its cells are written. Times in milliseconds since 1970. */
export interface TripFacts {
  readonly requestedAt: number;
  readonly pickedUpAt: number;
  readonly droppedOffAt: number;
  readonly pickUp: Zone;
  readonly dropOff: Zone;
  readonly miles: number;
  readonly seconds: number;
  /** Ranks in their pools, 0 the busiest. */
  readonly rider: number;
  readonly driver: number;
  readonly blemish: (typeof BLEMISHES)[number] | undefined;
}

/** When the first trip is asked for: a Monday, midnight in New York. */
const START = Date.parse('2025-01-06T05:00:00Z');
/** One trip in so many is sampled that a week's stragglers span 2000 trips. */
const ISOLATED_MS = 300_000;
/** How many there are to draw from: so few that a driver has several of 2000 trips. */
const [DRIVERS, RIDERS] = [5000, 20_000];
const COUNTS = { usual: { points: 7, updates: 1 }, uber: { points: 240, updates: 45 } } as const;

/** When trip `n` (from 0) is asked for, in milliseconds since 1970. */
export function requestTime(n: number): number {
  return START + n * ISOLATED_MS;
}

/** The facts of trip `n` of a seed. */
export function tripFacts(seed: string, n: number): TripFacts {
  const random = new Random(seed, 'facts', n);
  const pickUp = anyZone(random, 0.06);
  const dropOff = anyZone(random, pickUp.airport ? 0 : 0.07);
  const airport = pickUp.airport || dropOff.airport;
  const miles = Math.min(60, airport ? random.between(8, 18) : random.lognormal(2.7, 0.95));
  const seconds = Math.round(90 + ((miles * 3600) / (airport ? 20 : 12)) * random.lognormal(1, 0.25));
  const pickedUpAt = requestTime(n) + Math.round(random.lognormal(280, 0.5)) * 1000;
  const blemish = random.chance(0.02) ? random.pick(BLEMISHES) : undefined;
  return {
    requestedAt: requestTime(n),
    pickedUpAt,
    droppedOffAt: pickedUpAt + (blemish === 'drop-off before pick-up' ? 0 - seconds : seconds) * 1000,
    pickUp,
    dropOff,
    miles: blemish === 'zero distance' ? 0 : Math.round(miles * 1000) / 1000,
    seconds,
    rider: random.skewedRank(RIDERS),
    driver: random.skewedRank(DRIVERS),
    blemish,
  };
}

/**
 * Returns the BASE cell of a trip: a record as high-volume for-hire companies report it to New York City. It has the
 * ids for indexes, the parts of the fare, the events, and the route.
 */
export function baseBody(seed: string, n: number, size: TripSize): { readonly [field: string]: Json } {
  const facts = tripFacts(seed, n);
  const random = new Random(seed, 'base', n);
  const { amounts, fare } = fareOf(random, facts);
  // One of the two companies reports no base that a trip came from.
  const isUber = random.chance(0.74);
  return {
    driver_partner_uuid: identity(`driver/${facts.driver}`),
    rider_uuid: identity(`rider/${facts.rider}`),
    city_uuid: identity(`city/${facts.pickUp.borough}`),
    trip_created_at: dateTime(facts.requestedAt),
    hvfhs_license_num: isUber ? 'HV0003' : 'HV0005',
    dispatching_base_num: isUber ? `B0${2764 + (facts.driver % 90)}` : 'B03406',
    originating_base_num: isUber ? `B0${2764 + (facts.driver % 90)}` : null,
    request_datetime: dateTime(facts.requestedAt),
    pickup_datetime: dateTime(facts.pickedUpAt),
    dropoff_datetime: dateTime(facts.droppedOffAt),
    PULocationID: facts.pickUp.id,
    DOLocationID: facts.dropOff.id,
    trip_miles: facts.miles,
    trip_time: facts.seconds,
    ...amounts,
    shared_request_flag: random.chance(0.03) ? 'Y' : 'N',
    access_a_ride_flag: ' ',
    wav_match_flag: facts.driver % 12 === 0 ? 'Y' : 'N',
    fare,
    events: eventsOf(random, facts, size),
    route: routeOf(random, facts, size),
  };
}

/** In dollars and cents. Every amount of a refund is negative. */
function fareOf(random: Random, { miles, seconds, pickUp, dropOff, blemish }: TripFacts) {
  const passenger = Math.max(7, 5.3 + miles * 1.62 + (seconds / 60) * 0.48);
  const isManhattan = [pickUp, dropOff].some(({ borough }) => borough === 'Manhattan');
  const dollars = {
    base_passenger_fare: passenger,
    tolls: random.chance(0.1) ? random.pick([2.45, 6.94, 13.38]) : 0,
    bcf: passenger * 0.0275,
    sales_tax: passenger * 0.08875,
    congestion_surcharge: isManhattan ? 2.75 : 0,
    airport_fee: pickUp.airport || dropOff.airport ? 2.5 : 0,
    tips: random.chance(0.2) ? passenger * random.pick([0.1, 0.2, 0.25]) : 0,
    driver_pay: passenger * random.between(0.68, 0.82),
  };
  const sign = blemish === 'negative fare' ? -1 : 1;
  const amounts = Object.fromEntries(Object.entries(dollars).map(([name, amount]) => [name, cents(sign * amount)]));
  const lines = Object.entries(amounts)
    .filter(([name, amount]) => name !== 'driver_pay' && amount !== 0)
    .map(([name, amount]) => ({ name, amount }));
  const total = cents(lines.reduce((sum, { amount }) => sum + amount, 0));
  return { amounts, fare: { currency: 'USD', lines, total } };
}

/** Returns the events, in the order of the records' own clocks. */
function eventsOf(random: Random, facts: TripFacts, size: TripSize): Json[] {
  const updates = Array.from({ length: COUNTS[size].updates }, (_, update) => ({
    type: 'eta_updated',
    at: dateTime(facts.pickedUpAt + update * 20_000),
    seconds_left: Math.max(0, facts.seconds - update * 20 + random.integer(-60, 60)),
  }));
  return [
    { type: 'requested', at: dateTime(facts.requestedAt) },
    { type: 'dispatched', at: dateTime(facts.requestedAt + 10_000), offers: random.integer(1, 3) },
    { type: 'picked_up', at: dateTime(facts.pickedUpAt) },
    ...updates,
    { type: 'dropped_off', at: dateTime(facts.droppedOffAt) },
  ];
}

/** Positions between pick-up and drop-off, evenly spread over the trip; `at` in seconds since pick-up. */
function routeOf(random: Random, { pickUp, dropOff, seconds }: TripFacts, size: TripSize): Json[] {
  const [from, to] = [placeOf(pickUp), placeOf(dropOff)];
  const { points } = COUNTS[size];
  return Array.from({ length: points }, (_, point) => {
    const part = point / (points - 1);
    // Five decimals: about a metre.
    const degrees = (axis: 0 | 1): number =>
      Math.round((from[axis] + part * (to[axis] - from[axis]) + random.between(-0.002, 0.002)) * 1e5) / 1e5;
    return {
      at: Math.round(part * seconds),
      lat: degrees(0),
      lng: degrees(1),
      mph: random.integer(0, 32),
      heading: random.integer(0, 359),
    };
  });
}

/** RFC 3339, UTC, whole seconds. */
export function dateTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** Rounded to whole cents; adding 0 turns -0, which JSON does not know, into 0. */
export function cents(dollars: number): number {
  return Math.round(dollars * 100) / 100 + 0;
}
