/** Part of the city, which here plays the part of a city of its own. */
type Borough = 'Manhattan' | 'Brooklyn' | 'Queens' | 'Bronx' | 'Staten Island' | 'EWR' | 'Unknown';

/** A taxi zone, numbered as New York's Taxi and Limousine Commission numbers them. */
export interface Zone {
  readonly id: number;
  readonly borough: Borough;
  readonly airport: boolean;
}

/** The zones trips begin and end in, the busiest first within each borough. */
const ZONES_OF = {
  Manhattan: [
    237, 236, 161, 186, 162, 142, 230, 170, 163, 239, 234, 48, 68, 141, 238, 79, 107, 263, 164, 249, 140, 90, 246, 100,
    229, 231, 113, 262, 114, 233, 143, 137, 50, 43, 75, 211, 148, 87, 144, 151, 158, 166, 88, 13, 74, 41, 261, 4, 24,
    45, 42, 244, 243,
  ],
  Queens: [7, 145, 129, 226, 223, 95, 92],
  Brooklyn: [61, 37, 255, 181, 33, 97, 256, 25, 65, 17, 36, 80, 49, 76, 225, 89, 112, 14],
  Bronx: [247, 168, 69, 235, 159],
  'Staten Island': [206, 221],
} as const;

const JFK: Zone = { id: 132, borough: 'Queens', airport: true };
const LAGUARDIA: Zone = { id: 138, borough: 'Queens', airport: true };
const NEWARK: Zone = { id: 1, borough: 'EWR', airport: true };
export const AIRPORTS: readonly [Zone, ...Zone[]] = [JFK, LAGUARDIA, JFK, LAGUARDIA, NEWARK];

/** Where the meter did not know: kept, as real records keep it. */
export const UNKNOWN_ZONE: Zone = { id: 264, borough: 'Unknown', airport: false };

/** A borough's zones in the order of their trade; `random.skewedRank` over them gives skewed pick-ups. */
export function zonesOf(borough: keyof typeof ZONES_OF): readonly Zone[] {
  return ZONES[borough];
}

const ZONES = {
  Manhattan: zones('Manhattan'),
  Queens: zones('Queens'),
  Brooklyn: zones('Brooklyn'),
  Bronx: zones('Bronx'),
  'Staten Island': zones('Staten Island'),
};

function zones(borough: keyof typeof ZONES_OF): readonly Zone[] {
  return ZONES_OF[borough].map((id) => ({ id, borough, airport: false }));
}

const CENTRES: Readonly<Record<Borough, readonly [number, number]>> = {
  Manhattan: [40.764, -73.977],
  Brooklyn: [40.683, -73.949],
  Queens: [40.742, -73.87],
  Bronx: [40.834, -73.902],
  'Staten Island': [40.628, -74.08],
  EWR: [40.69, -74.174],
  Unknown: [40.75, -73.95],
};

/** A point that stands for the zone, [latitude, longitude]: near its borough's centre, always the same. */
export function placeOf(zone: Zone): readonly [number, number] {
  const [latitude, longitude] = CENTRES[zone.borough];
  return [latitude + (((zone.id * 37) % 100) - 50) / 2000, longitude + (((zone.id * 61) % 100) - 50) / 2500];
}
