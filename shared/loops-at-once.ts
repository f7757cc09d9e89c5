/** Overlapping runs of one scheduled function: a run ends after its successor has begun to work. */
export const LOOPS_AT_ONCE = 2;

/** The input of a schedule whose function divides its work over several runs. */
export interface RunSlot {
  /** From 0: the next run of the same slot takes over from this one. @default 0 */
  readonly slot?: number | undefined;
  /** Number of slots. @default 1 */
  readonly of?: number | undefined;
}

/** Returns the groups of a run: each group is in exactly one slot. */
export function groupsInSlot(groups: readonly string[], { slot = 0, of = 1 }: RunSlot = {}): readonly string[] {
  return groups.toSorted().filter((_, position) => position % of === slot);
}
