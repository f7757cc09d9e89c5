import type { PlacedShard, PlannedGroup, PlannedMove } from '../contract/shard-plan.ts';

/** What a group holds, and what it would hold after a plan. */
export interface GroupShare {
  readonly group: string;
  readonly shards: number;
  readonly bytes: number;
  /** Of all bytes, 0 to 1. */
  readonly share: number;
  /** Cells written a second. */
  readonly rate: number;
  /** What its weight says, 0 to 1. */
  readonly wanted_share: number;
  readonly shards_after: number;
  readonly bytes_after: number;
  readonly share_after: number;
  readonly rate_after: number;
}

/** Each group before a plan and after it; a shard that is being moved counts where it goes. */
export function groupShares(
  shards: readonly PlacedShard[],
  groups: readonly PlannedGroup[],
  moves: readonly PlannedMove[],
): readonly GroupShare[] {
  const all = shards.reduce((sum, { bytes }) => sum + bytes, 0);
  const weights = groups.reduce((sum, group) => sum + weightOf(group), 0);
  const goesTo = new Map(moves.map(({ shard, to }) => [shard, to]));
  const held = (holds: (one: PlacedShard) => boolean): Held => {
    const some = shards.filter(holds);
    const bytes = some.reduce((sum, one) => sum + one.bytes, 0);
    const rate = some.reduce((sum, one) => sum + one.rate, 0);
    return { shards: some.length, bytes, share: all === 0 ? 0 : bytes / all, rate };
  };
  return groups.map((planned): GroupShare => {
    const { group } = planned;
    const after = held((one) => (goesTo.get(one.shard) ?? one.movingTo ?? one.group) === group);
    return {
      group,
      ...held((one) => (one.movingTo ?? one.group) === group),
      wanted_share: weights === 0 ? 0 : weightOf(planned) / weights,
      shards_after: after.shards,
      bytes_after: after.bytes,
      share_after: after.share,
      rate_after: after.rate,
    };
  });
}

type Held = Pick<GroupShare, 'shards' | 'bytes' | 'share' | 'rate'>;

/** How much a group is to hold, compared with the others: one that retires nothing. */
export function weightOf({ weight = 1, retire = false }: PlannedGroup): number {
  return retire ? 0 : weight;
}
