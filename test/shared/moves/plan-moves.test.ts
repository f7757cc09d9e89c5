import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlacedShard, PlannedGroup, PlannedMove, PlanOptions } from '../../../shared/contract/shard-plan.ts';
import { groupShares } from '../../../shared/moves/group-shares.ts';
import { planMoves } from '../../../shared/moves/plan-moves.ts';

const GB = 1e9;
const DAY = 86_400;

/** Shards of groups, by the bytes of each. */
function shardsOf(held: Readonly<Record<string, readonly number[]>>): PlacedShard[] {
  return Object.entries(held)
    .flatMap(([group, sizes]) => sizes.map((bytes) => ({ group, bytes })))
    .map((one, shard) => ({ shard, rate: 0, ...one }));
}

const groupsOf = (...names: string[]): PlannedGroup[] => names.map((group) => ({ group }));
const brief = (moves: readonly PlannedMove[]): string[] => moves.map(({ shard, from, to }) => `${shard} ${from} ${to}`);

describe('a plan', () => {
  it('is empty where each group holds what it is to hold, about', () => {
    const shards = shardsOf({ one: [10, 10, 10], two: [10, 10, 11] });
    expect(planMoves(shards, groupsOf('one', 'two'))).toEqual([]);
    expect(planMoves([], groupsOf('one'))).toEqual([]);
  });

  it('fills a new group, from all others alike', () => {
    const shards = shardsOf({ one: [GB, GB, GB], two: [GB, GB, GB] });
    const moves = planMoves(shards, groupsOf('one', 'two', 'three'));
    expect(moves.map(({ to, bytes }) => [to, bytes])).toEqual([
      ['three', GB],
      ['three', GB],
    ]);
    expect(moves.map(({ from }) => from).sort()).toEqual(['one', 'two']);
  });

  it('moves the smallest shard that is enough', () => {
    // 120 too much, of which 37 would be borne.
    const shards = shardsOf({ one: [500, 150, 110, 60, 50], two: [630] });
    expect(brief(planMoves(shards, groupsOf('one', 'two')))).toEqual(['2 one two']);
  });

  it('empties a group that retires, whatever lies in it, and fills it from nowhere', () => {
    const shards = shardsOf({ one: [10, 10, 10], two: [10, 10], three: [30, 0, 5] });
    const groups = [...groupsOf('one', 'two'), { group: 'three', retire: true }];
    const moves = planMoves(shards, groups, { tolerance: 0.5 });
    expect(moves.filter(({ from }) => from === 'three').map(({ shard }) => shard)).toEqual([5, 7, 6]);
    expect(moves.filter(({ to }) => to === 'three')).toEqual([]);
    // The largest goes to where most is missing.
    expect(moves[0]).toEqual({ shard: 5, from: 'three', to: 'two', bytes: 30 });
  });

  it('keeps to weights', () => {
    const shards = shardsOf({ one: [1, 1, 1, 1, 1, 1] });
    const groups = [...groupsOf('one'), { group: 'large', weight: 2 }];
    expect(planMoves(shards, groups)).toHaveLength(4);
  });

  it('counts a shard that is being moved where it goes, and leaves it alone', () => {
    const moving: PlacedShard = { shard: 9, group: 'one', bytes: 10, rate: 0, movingTo: 'two' };
    expect(planMoves([...shardsOf({ one: [10], two: [] }), moving], groupsOf('one', 'two'))).toEqual([]);
    const retired = [...groupsOf('two'), { group: 'one', retire: true }];
    expect(brief(planMoves([...shardsOf({ one: [10] }), moving], retired))).toEqual(['0 one two']);
  });

  it('refuses groups of which none may hold anything, and shards of a group that is not named', () => {
    const shards = shardsOf({ one: [10] });
    expect(() => planMoves(shards, [{ group: 'one', retire: true }])).toThrow(
      expect.objectContaining({ code: 'invalid_field', details: expect.objectContaining({ field: 'groups' }) }),
    );
    expect(() => planMoves(shards, groupsOf('two'))).toThrow(
      expect.objectContaining({ code: 'invalid_field', details: expect.objectContaining({ field: 'group' }) }),
    );
  });
});

/** Shards on groups, as any datastore may have them. */
interface World {
  readonly shards: readonly PlacedShard[];
  readonly groups: readonly PlannedGroup[];
  readonly options: PlanOptions;
}

const worlds: fc.Arbitrary<World> = fc.integer({ min: 1, max: 8 }).chain((count) => {
  const names = Array.from({ length: count }, (_, position) => `group-${position + 1}`);
  const group = fc.constantFrom(...names);
  const bytes = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constant(50), fc.integer({ min: 0, max: 5000 }));
  const shard = fc.record({
    group,
    bytes,
    rate: fc.integer({ min: 0, max: 20 }),
    movingTo: fc.option(group, { nil: undefined, freq: 4 }),
    movedSecondsAgo: fc.option(fc.integer({ min: 0, max: 2 * DAY }), { nil: undefined }),
  });
  const weighed = fc.record({ weight: fc.integer({ min: 1, max: 4 }), retire: fc.boolean() });
  return fc.record({
    shards: fc
      .array(shard, { maxLength: 60 })
      .map((some) => some.map((one, at): PlacedShard => ({ shard: at, ...(one as Omit<PlacedShard, 'shard'>) }))),
    groups: fc
      .array(weighed, { minLength: count, maxLength: count })
      // One is left at least.
      .map((some) => some.map((one, at) => ({ ...one, group: names[at] ?? '', retire: at > 0 && one.retire }))),
    options: fc.record({ tolerance: fc.constantFrom(0, 0.05, 0.2), rateWeight: fc.constant(0) }),
  });
});

/** What doubles lose. */
const ABOUT = 1e-9;
const sumOf = (some: readonly number[]): number => some.reduce((sum, one) => sum + one, 0);

/** What each group has too much, of all bytes; below 0 what it lacks. */
function excesses({ shards, groups }: World, moves: readonly PlannedMove[]): readonly number[] {
  return groupShares(shards, groups, moves).map((one) => one.share_after - one.wanted_share);
}

describe('a plan for any shards', () => {
  it('moves each shard once, to a group that stays, no more than needed, and leaves no group worse', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { shards, groups, options } = world;
        const moves = planMoves(shards, groups, options);
        expect(planMoves(shards.toReversed(), groups.toReversed(), options)).toEqual(moves);
        expect(new Set(moves.map(({ shard }) => shard)).size).toBe(moves.length);
        for (const { shard, from, to, bytes } of moves) {
          expect(shards[shard]).toMatchObject({ group: from, bytes });
          expect(shards[shard]?.movingTo).toBeUndefined();
          expect(to).not.toBe(from);
          expect(groups.find(({ group }) => group === to)?.retire).toBe(false);
        }
        const moved = new Set(moves.map(({ shard }) => shard));
        const retired = new Set(groups.filter(({ retire }) => retire).map(({ group }) => group));
        const left = shards.filter(({ shard, movingTo }) => movingTo === undefined && !moved.has(shard));
        expect(left.filter(({ group }) => retired.has(group))).toEqual([]);

        const [before, after] = [excesses(world, []), excesses(world, moves)];
        const worst = (some: readonly number[]): number => Math.max(...some.map(Math.abs));
        const squares = (some: readonly number[]): number => sumOf(some.map((one) => one * one));
        expect(worst(after)).toBeLessThanOrEqual(worst(before) + ABOUT);
        expect(squares(after)).toBeLessThanOrEqual(squares(before) + ABOUT);
        const all = sumOf(shards.map(({ bytes }) => bytes));
        const tooMuch = sumOf(before.map((one) => Math.max(0, one))) * all;
        const largest = Math.max(0, ...shards.map(({ bytes }) => bytes));
        expect(sumOf(moves.map(({ bytes }) => bytes))).toBeLessThanOrEqual(1.2 * tooMuch + largest + ABOUT * all);
      }),
      { numRuns: 1000 },
    );
  });
});
