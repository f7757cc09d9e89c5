/** A group's part of a datastore. */
export interface HeldByGroup {
  readonly group: string;
  readonly shards: number;
  /** The bytes of bodies. */
  readonly bytes: number;
}

/** Returns the largest deviation of a group from its part, relative to that part: 0.05 is 5 per cent. */
export function furthest(held: readonly HeldByGroup[], what: 'shards' | 'bytes'): number {
  const all = held.reduce((sum, one) => sum + one[what], 0);
  const part = all / held.length;
  return Math.max(...held.map((one) => Math.abs(one[what] - part) / part));
}

/** Returns the growth of the rate relative to that in groups: 1 if twice as many groups write twice as much. */
export function grownOf(
  before: number,
  after: number,
  groups: { readonly before: number; readonly after: number },
): number {
  return (after / before - 1) / (groups.after / groups.before - 1);
}
