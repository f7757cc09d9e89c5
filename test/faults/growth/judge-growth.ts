/** What a group holds of a datastore. */
export interface HeldByGroup {
  readonly group: string;
  readonly shards: number;
  /** Of bodies. */
  readonly bytes: number;
}

/** How far the group that is furthest from its part is from it, as a part of that: 0.05 is 5 per cent. */
export function furthest(held: readonly HeldByGroup[], what: 'shards' | 'bytes'): number {
  const all = held.reduce((sum, one) => sum + one[what], 0);
  const part = all / held.length;
  return Math.max(...held.map((one) => Math.abs(one[what] - part) / part));
}

/** Of what groups were added, how much the rate has grown: 1 where twice as many groups write twice as much. */
export function grownOf(
  before: number,
  after: number,
  groups: { readonly before: number; readonly after: number },
): number {
  return (after / before - 1) / (groups.after / groups.before - 1);
}
