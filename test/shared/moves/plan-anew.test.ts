import { describe, expect, it } from 'vitest';
import type { MoveStatus } from '../../../shared/contract/move-operations.ts';
import type { ShardSize } from '../../../shared/contract/shard-plan.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { planAnew } from '../../../shared/moves/plan-anew.ts';
import { shardRates } from '../../../shared/moves/shard-rates.ts';
import { steppingMoves, moveStatus } from './stepping-moves.ts';

const GROUPS = [{ group: 'one' }, { group: 'two' }];
const sizes: readonly ShardSize[] = Array.from({ length: 4 }, (_, shard) => ({
  shard,
  group: 'one',
  bytes: 100,
  cells: 10,
}));
const surveyed = { groups: GROUPS, shards: sizes, rates: new Map<number, number>() };

/** Moves of these shards that were asked for before. */
function movesWith(...statuses: readonly MoveStatus[]): ReturnType<typeof steppingMoves> {
  const moves = steppingMoves(new Map(sizes.map(({ shard, group }) => [shard, group])));
  for (const status of statuses) moves.all.set(status.shard, status);
  return moves;
}

const shardsOf = ({ moves }: Awaited<ReturnType<typeof planAnew>>): number[] => moves.map(({ shard }) => shard);

describe('a plan from where everything is', () => {
  it('says what groups hold before and after it', async () => {
    const plan = await planAnew(movesWith(), surveyed);
    expect(shardsOf(plan)).toEqual([0, 1]);
    expect(plan.groups).toMatchObject([
      { group: 'one', shards: 4, share: 1, wanted_share: 0.5, shards_after: 2, share_after: 0.5 },
      { group: 'two', shards: 0, share: 0, wanted_share: 0.5, shards_after: 2, share_after: 0.5 },
    ]);
  });

  it('counts moves under way where they go: a run that was ended is gone on with', async () => {
    const copying = moveStatus({ shard: 0, from: 'one', to: 'two', step: 'copying' });
    const plan = await planAnew(movesWith(copying), surveyed);
    expect(shardsOf(plan)).toEqual([1]);
    expect(plan.under_way).toBe(1);
  });

  it('leaves a shard that moved lately, and takes another one', async () => {
    const switched_at = new Date().toISOString();
    const moves = movesWith(
      moveStatus({ shard: 0, from: 'one', to: 'two', step: 'completed', switches: 1, switched_at }),
    );
    expect(shardsOf(await planAnew(moves, surveyed))).toEqual([1, 2]);
    expect(shardsOf(await planAnew(moves, surveyed, { coolDownSeconds: 0 }))).toEqual([0, 1]);
  });

  it('is refused where the size of a shard is not known', async () => {
    const error = new SchemalessError('unavailable', 'one does not answer');
    const shards = [...sizes.slice(1), { shard: 0, group: 'one', error }];
    await expect(planAnew(movesWith(), { ...surveyed, shards })).rejects.toBe(error);
  });
});

describe('the rates of shards', () => {
  const heads = (grown: number) => sizes.map(({ shard, group }) => ({ shard, group, head: 10 + shard * grown }));

  it('are what their logs grew by', () => {
    expect([...shardRates(sizes, heads(1000), 10)]).toEqual([
      [0, 0],
      [1, 100],
      [2, 200],
      [3, 300],
    ]);
  });

  it('are unknown where too little was written to tell', () => {
    expect(shardRates(sizes, heads(10), 10).size).toBe(0);
    expect(shardRates(sizes, heads(1000), 0).size).toBe(0);
  });
});
