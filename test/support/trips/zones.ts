import type { Random } from '../random.ts';

/** Part of the city, which here acts as a city. */
type Borough = 'Manhattan' | 'Brooklyn' | 'Queens' | 'Bronx' | 'Staten Island';

/** A taxi zone, numbered as New York's Taxi and Limousine Commission numbers them. */
export interface Zone {
  readonly id: number;
  readonly borough: Borough;
  readonly airport: boolean;
}

interface City {
  /** Of all trips. */
  readonly share: number;
  /** Latitude, longitude. */
  readonly centre: readonly [number, number];
  /** The busiest first. */
  readonly zones: readonly number[];
}

const CITIES: Readonly<Record<Borough, City>> = {
  Manhattan: {
    share: 0.52,
    centre: [40.764, -73.977],
    zones: [
      237, 236, 161, 186, 162, 142, 230, 170, 163, 239, 234, 48, 68, 141, 238, 79, 107, 263, 164, 249, 140, 90, 246,
      100, 229, 231, 113, 262, 114, 233, 143, 137, 50, 43, 75, 211, 148, 87, 144, 151, 158, 166, 88, 13, 74, 41, 261, 4,
      24, 45, 42, 244, 243,
    ],
  },
  Brooklyn: {
    share: 0.24,
    centre: [40.683, -73.949],
    zones: [61, 37, 255, 181, 33, 97, 256, 25, 65, 17, 36, 80, 49, 76, 225, 89, 112, 14],
  },
  Queens: { share: 0.12, centre: [40.742, -73.87], zones: [7, 145, 129, 226, 223, 95, 92] },
  Bronx: { share: 0.105, centre: [40.834, -73.902], zones: [247, 168, 69, 235, 159] },
  'Staten Island': { share: 0.015, centre: [40.628, -74.08], zones: [206, 221] },
};
const AIRPORTS: readonly [Zone, ...Zone[]] = [
  { id: 132, borough: 'Queens', airport: true },
  { id: 138, borough: 'Queens', airport: true },
];

/** @param airports share of the trips that begin, or end, at one */
export function anyZone(random: Random, airports: number): Zone {
  if (random.chance(airports)) return random.pick(AIRPORTS);
  let left = random.next();
  const borough = (Object.keys(CITIES) as Borough[]).find((name) => (left -= CITIES[name].share) < 0) ?? 'Manhattan';
  const { zones } = CITIES[borough];
  return { id: zones[random.skewedRank(zones.length)] ?? 0, borough, airport: false };
}

/** Returns a fixed point for the zone, [latitude, longitude], near its borough's centre. */
export function placeOf({ id, borough }: Zone): readonly [number, number] {
  const [latitude, longitude] = CITIES[borough].centre;
  return [latitude + (((id * 37) % 100) - 50) / 2000, longitude + (((id * 61) % 100) - 50) / 2500];
}
