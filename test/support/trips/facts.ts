import { localHour, requestTime, SECOND } from './clock.ts';
import { Random } from '../random.ts';
import { AIRPORTS, UNKNOWN_ZONE, type Zone, zonesOf } from './zones.ts';

/** What is wrong with a dirty record. Real ones have 1 to 3 % of these, and a store has to keep them as they come. */
type Blemish = 'negative fare' | 'zero distance' | 'drop-off before pick-up';

/** What is true of one trip; its cells are written from this. Times in milliseconds since 1970. */
export interface TripFacts {
  readonly n: number;
  readonly license: 'HV0003' | 'HV0005';
  readonly requestedAt: number;
  readonly onSceneAt: number;
  readonly pickedUpAt: number;
  readonly droppedOffAt: number;
  readonly pickUp: Zone;
  readonly dropOff: Zone;
  readonly miles: number;
  readonly seconds: number;
  /** Ranks in their pools, 0 the busiest. */
  readonly rider: number;
  readonly driver: number;
  readonly shared: boolean;
  readonly blemish: Blemish | undefined;
}

/** How many drivers and riders there are to draw from: so few that a driver has several of 2000 trips. */
const DRIVERS = 5000;
const RIDERS = 20_000;
const BLEMISHES = ['negative fare', 'zero distance', 'drop-off before pick-up'] as const;

/** The facts of trip `n` (from 0) of a seed. */
export function tripFacts(seed: string, n: number): TripFacts {
  const random = new Random(seed, 'facts', n);
  const requestedAt = requestTime(n);
  const pickUp = zone(random, 0.06);
  const dropOff = zone(random, pickUp.airport ? 0 : 0.07);
  const airport = pickUp.airport || dropOff.airport;
  const miles = Math.min(60, airport ? random.between(8, 18) : random.lognormal(2.7, 0.95));
  const hour = localHour(requestedAt);
  const milesAnHour = (hour < 6 || hour > 21 ? 18 : 11.5) * (airport ? 1.8 : 1);
  const seconds = Math.round(90 + ((miles * 3600) / milesAnHour) * random.lognormal(1, 0.25));
  const onSceneAt = requestedAt + Math.round(random.lognormal(220, 0.5)) * SECOND;
  const pickedUpAt = onSceneAt + Math.round(random.lognormal(60, 0.8)) * SECOND;
  const blemish = random.chance(0.02) ? random.pick(BLEMISHES) : undefined;
  return {
    n,
    license: random.chance(0.74) ? 'HV0003' : 'HV0005',
    requestedAt,
    onSceneAt,
    pickedUpAt,
    droppedOffAt: pickedUpAt + (blemish === 'drop-off before pick-up' ? 0 - seconds : seconds) * SECOND,
    pickUp,
    dropOff,
    miles: blemish === 'zero distance' ? 0 : Math.round(miles * 1000) / 1000,
    seconds,
    rider: random.skewedRank(RIDERS),
    driver: random.skewedRank(DRIVERS),
    shared: random.chance(0.03),
    blemish,
  };
}

function zone(random: Random, airports: number): Zone {
  if (random.chance(airports)) return random.pick(AIRPORTS);
  const share = random.next();
  if (share < 0.005) return UNKNOWN_ZONE;
  const zones = zonesOf(
    share < 0.52
      ? 'Manhattan'
      : share < 0.76
        ? 'Brooklyn'
        : share < 0.88
          ? 'Queens'
          : share < 0.985
            ? 'Bronx'
            : 'Staten Island',
  );
  return zones[random.skewedRank(zones.length)] ?? UNKNOWN_ZONE;
}
