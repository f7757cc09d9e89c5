import type { MoveOperations, MoveStatus } from '../contract/move-operations.ts';
import type { PlacedShard, PlannedGroup, PlannedMove, PlanOptions, ShardSize } from '../contract/shard-plan.ts';
import { SchemalessError } from '../errors.ts';
import { sideBySide } from '../side-by-side.ts';
import { groupShares, type GroupShare } from './group-shares.ts';
import { planMoves } from './plan-moves.ts';

/** What a plan is made of. */
export interface Surveyed {
  readonly groups: readonly PlannedGroup[];
  readonly shards: readonly ShardSize[];
  /** Cells written a second, by shard. */
  readonly rates: ReadonlyMap<number, number>;
}

export interface ShardPlan {
  readonly moves: readonly PlannedMove[];
  /** What each group holds, and what it would hold. */
  readonly groups: readonly GroupShare[];
  /** Shards that moves under way bring elsewhere already, or have brought: they are not planned. */
  readonly under_way: number;
}

/**
 * A plan from where everything is by now: moves under way count where they go. When a shard moved last is asked of
 * those alone that would be planned.
 *
 * @throws SchemalessError `unavailable` where the size of a shard is not known, `invalid_field` as `planMoves`
 */
export async function planAnew(
  operations: Pick<MoveOperations, 'moves' | 'move'>,
  { groups, shards, rates }: Surveyed,
  options: PlanOptions = {},
): Promise<ShardPlan> {
  const underWay = new Map((await operations.moves()).map((status) => [status.shard, status]));
  let placed = shards.map((size): PlacedShard => {
    if (size.error) throw size.error;
    const { shard, group, bytes } = size;
    const status = underWay.get(shard);
    return { shard, group, bytes, rate: rates.get(shard) ?? 0, movingTo: status && goalOf(status, group) };
  });
  const retired = new Set(groups.flatMap(({ group, retire }) => (retire === true ? [group] : [])));
  const asked = new Map<number, number | undefined>();
  for (;;) {
    const moves = planMoves(placed, groups, options);
    const unasked = moves.filter(({ shard, from }) => !asked.has(shard) && !retired.has(from));
    if (unasked.length === 0) return { moves, groups: groupShares(placed, groups, moves), under_way: underWay.size };
    await sideBySide(unasked, async ({ shard }) => void asked.set(shard, await secondsSinceMoved(operations, shard)));
    placed = placed.map((one) => ({ ...one, movedSecondsAgo: asked.get(one.shard) }));
  }
}

/** Where a shard will be that is being moved: one that was switched, or whose copy is to be dropped, is there. */
function goalOf({ switches, wanted, step, to }: MoveStatus, group: string): string {
  const stays = switches > 0 || wanted === 'drop' || step === 'dropping';
  return stays ? group : to;
}

async function secondsSinceMoved(operations: Pick<MoveOperations, 'move'>, shard: number): Promise<number | undefined> {
  try {
    const { switched_at } = await operations.move(shard);
    return switched_at === null ? undefined : (Date.now() - Date.parse(switched_at)) / 1000;
  } catch (error) {
    if (error instanceof SchemalessError && error.code === 'unknown_move') return undefined;
    throw error;
  }
}
