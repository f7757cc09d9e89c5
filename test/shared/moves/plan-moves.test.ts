import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planMoves, type PlacedShard, type PlannedMove } from '../../../shared/moves/rebalance.ts';

/** Shards of groups, as many as specified; those of a group `moving` are under way. */
function shardsOf(held: Readonly<Record<string, number>>, moving?: string): PlacedShard[] {
  return Object.entries(held)
    .flatMap(([group, count]) => Array.from({ length: count }, () => group))
    .map((group, shard) => ({ shard, group, isMoving: group === moving }));
}

function countsAfter(shards: readonly PlacedShard[], moves: readonly PlannedMove[]): Record<string, number> {
  const to = new Map(moves.map((move) => [move.shard, move.to]));
  const counts: Record<string, number> = {};
  for (const { shard, group } of shards) counts[to.get(shard) ?? group] = (counts[to.get(shard) ?? group] ?? 0) + 1;
  return counts;
}

describe('a plan', () => {
  it('fills a new group, from all others alike', () => {
    const moves = planMoves(shardsOf({ one: 3, two: 3 }), ['one', 'two', 'three']);
    expect(moves.map(({ to }) => to)).toEqual(['three', 'three']);
    expect(moves.map(({ from }) => from).toSorted()).toEqual(['one', 'two']);
  });

  it('empties a retired group, and gives it nothing', () => {
    const shards = shardsOf({ one: 3, two: 2, three: 3 });
    const moves = planMoves(shards, ['one', 'two', 'three'], ['three']);
    expect(moves).toHaveLength(3);
    expect(countsAfter(shards, moves)).toEqual({ one: 4, two: 4 });
  });

  it('leaves shards that are being moved, and counts them where they go', () => {
    expect(planMoves(shardsOf({ one: 2, two: 2 }, 'two'), ['one', 'two'])).toEqual([]);
    expect(planMoves(shardsOf({ one: 4 }, 'one'), ['one', 'two'])).toEqual([]);
  });

  it('refuses a group that does not exist, and to retire all', () => {
    const shards = shardsOf({ one: 1 });
    expect(() => planMoves(shards, ['one', 'two'], ['four'])).toThrow('retire: wanted one of one, two, got "four"');
    expect(() => planMoves(shards, ['one'], ['one'])).toThrow('retire: wanted a group left that holds shards');
  });

  it('ends with equally many on each group or one more, by the fewest moves, in whatever order shards come', () => {
    const groups = ['a', 'b', 'c', 'd', 'e'];
    const world = fc.record({
      held: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 5, maxLength: 5 }),
      retired: fc.subarray(groups, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(world, ({ held, retired }) => {
        const before = Object.fromEntries(groups.map((group, position) => [group, held[position] ?? 0]));
        const shards = shardsOf(before);
        const moves = planMoves(shards, groups, retired);
        const after = countsAfter(shards, moves);
        const staying = groups.filter((group) => !retired.includes(group));
        const counts = staying.map((group) => after[group] ?? 0);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        for (const group of retired) expect(after[group]).toBeUndefined();
        expect(new Set(moves.map(({ shard }) => shard)).size).toBe(moves.length);
        // The fullest keep one more: no other division needs fewer moves.
        const least = Math.floor(shards.length / staying.length);
        const fullest = staying.map((group) => before[group] ?? 0).toSorted((one, other) => other - one);
        const kept = fullest.map((count, place) =>
          Math.min(count, least + (place < shards.length % staying.length ? 1 : 0)),
        );
        expect(moves).toHaveLength(shards.length - kept.reduce((sum, count) => sum + count, 0));
        expect(planMoves(shards, groups.toReversed(), retired)).toEqual(moves);
      }),
    );
  });
});
