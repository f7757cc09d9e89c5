import { describe, expect, it } from 'vitest';
import { groupsOf } from '../../../infra/cli/shard-plan/make-plan.ts';
import { planLines } from '../../../infra/cli/shard-plan/print-plan.ts';
import { groupShares } from '../../../shared/moves/group-shares.ts';

describe('the groups of a plan', () => {
  const names = ['group-1', 'group-2', 'group-3'];

  it('are all that there are, as the flags want them', () => {
    expect(groupsOf(names, {})).toEqual(names.map((group) => ({ group, weight: undefined, retire: false })));
    expect(groupsOf(names, { retire: ['group-2'], weight: ['group-3=2.5'] })).toEqual([
      { group: 'group-1', weight: undefined, retire: false },
      { group: 'group-2', weight: undefined, retire: true },
      { group: 'group-3', weight: 2.5, retire: false },
    ]);
  });

  it.each([
    [
      'a group that there is not',
      { retire: ['group-9'] },
      '--retire: wanted one of group-1, group-2, group-3, got "gr',
    ],
    ['all of them', { retire: names }, '--retire: wanted a group left that holds shards'],
    ['a weight of such a group', { weight: ['group-9=1'] }, '--weight: wanted one of group-1'],
    [
      'a weight of nothing',
      { weight: ['group-1=0'] },
      '--weight: wanted GROUP=NUMBER, a number above 0, got "group-1=0"',
    ],
    ['a weight without a group', { weight: ['2'] }, '--weight: wanted GROUP=NUMBER'],
  ])('refuse %s', (_what, flags, message) => {
    expect(() => groupsOf(names, flags)).toThrow(message);
  });
});

describe('a plan', () => {
  it('is told by group, and what it moves', () => {
    const shards = [0, 1].map((shard) => ({ shard, group: 'group-1', bytes: 1.5e9, rate: 0 }));
    const groups = [{ group: 'group-1' }, { group: 'new' }];
    const moves = [{ shard: 0, from: 'group-1', to: 'new', bytes: 1.5e9 }];
    expect(planLines({ moves, groups: groupShares(shards, groups, moves), under_way: 2 })).toEqual([
      'group-1  2 shards, 3.0 GB, 100.0 %; then 1, 1.5 GB, 50.0 % of 50.0 %',
      'new      0 shards, 0 B, 0.0 %; then 1, 1.5 GB, 50.0 % of 50.0 %',
      '1 shard to move, 1.5 GB; 2 moves under way, counted where it ends',
    ]);
    expect(planLines({ moves: [], groups: groupShares(shards, groups, []), under_way: 0 }).at(-1)).toBe(
      'nothing to move',
    );
  });
});
