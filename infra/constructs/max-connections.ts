/** `max_connections` of a serverless node by its most ACU, from Aurora's documentation. */
const CONNECTIONS: readonly (readonly [acu: number, connections: number])[] = [
  [192, 6000],
  [128, 5000],
  [64, 4000],
  [32, 3000],
  [16, 2000],
  [8, 1000],
  [4, 135],
  [1, 90],
];

/** Returns the connections of each node; between two sizes, those of the smaller. */
export function connectionsOf(maxAcu: number): number {
  return CONNECTIONS.find(([acu]) => maxAcu >= acu)?.[1] ?? 90;
}
