import { invalidField } from '../errors.ts';

/** A shard as a plan sees it. */
export interface PlacedShard {
  readonly shard: number;
  /** The group that holds it, or will hold it once its move ends. */
  readonly group: string;
  /** A move is under way: the shard is not planned again. */
  readonly isMoving: boolean;
}

/** A shard that should be on another group. */
export interface PlannedMove {
  readonly shard: number;
  readonly from: string;
  readonly to: string;
}

/**
 * Plans the fewest moves after which each group holds equally many shards, or one more than others. Retired groups hold
 * none. The same shards and groups give the same plan. `groups`: all that there are. Throws SchemalessError
 * `invalid_field` if a retired group does not exist, or all groups are retired.
 */
export function planMoves(
  shards: readonly PlacedShard[],
  groups: readonly string[],
  retired: readonly string[] = [],
): readonly PlannedMove[] {
  const unknown = retired.find((group) => !groups.includes(group));
  if (unknown !== undefined) throw invalidField('retire', `one of ${groups.join(', ')}`, unknown);
  const staying = groups.filter((group) => !retired.includes(group));
  if (staying.length === 0) throw invalidField('retire', 'a group left that holds shards', retired.join(', '));
  const held = new Map(groups.map((group): [string, PlacedShard[]] => [group, []]));
  for (const one of shards) held.get(one.group)?.push(one);
  const countOf = (group: string): number => held.get(group)?.length ?? 0;
  const all = groups.reduce((sum, group) => sum + countOf(group), 0);
  // The fullest groups keep what cannot be divided: that moves least.
  const byCount = staying.toSorted((one, other) => countOf(other) - countOf(one) || (one < other ? -1 : 1));
  const target = (group: string): number => {
    const place = byCount.indexOf(group);
    return place < 0 ? 0 : Math.floor(all / staying.length) + (place < all % staying.length ? 1 : 0);
  };
  const excess = new Map(groups.map((group) => [group, countOf(group) - target(group)]));
  const movable = new Map([...held].map(([group, ofGroup]) => [group, ofGroup.filter(({ isMoving }) => !isMoving)]));
  const moves: PlannedMove[] = [];
  for (;;) {
    const givers = groups.filter((group) => excessOf(group) > 0 && (movable.get(group)?.length ?? 0) > 0);
    const [from, to] = [most(givers, excessOf), most(staying, (group) => -excessOf(group))];
    const one = from === undefined ? undefined : movable.get(from)?.pop();
    if (from === undefined || to === undefined || !one || excessOf(to) >= 0) return moves;
    excess.set(from, excessOf(from) - 1);
    excess.set(to, excessOf(to) + 1);
    moves.push({ shard: one.shard, from, to });
  }

  function excessOf(group: string): number {
    return excess.get(group) ?? 0;
  }
}

/** The group with the highest value, of equals the first by name. */
function most(groups: readonly string[], value: (group: string) => number): string | undefined {
  return groups.toSorted((one, other) => value(other) - value(one) || (one < other ? -1 : 1))[0];
}
