import { describe, expect, it } from 'vitest';
import { SchemalessError } from '../../../shared/errors.ts';
import { type PlannedMove, placedShards, rebalance } from '../../../shared/moves/rebalance.ts';
import { moveStatus, steppingMoves } from './stepping-moves.ts';

const SHARDS = 6;
const never = new AbortController().signal;

/** Shards of two groups, of which all go to a third. */
const homes = new Map(Array.from({ length: SHARDS }, (_, shard) => [shard, shard % 2 === 0 ? 'one' : 'two']));
const plan = [...homes].map(([shard, from]): PlannedMove => ({ shard, from, to: 'three' }));

describe('the run of a plan', () => {
  it('brings every shard to its group, each to be completed by itself', async () => {
    const moves = steppingMoves(homes);
    const report = await rebalance(moves, plan, { signal: never, pollMs: 1, completeAfterSeconds: 60 });
    expect(report).toEqual({ moves: SHARDS, moved: SHARDS, not_moved: [], complete: true });
    expect([...moves.homes.values()]).toEqual(plan.map(() => 'three'));
    expect([...moves.all.values()].map((one) => one.complete_after_seconds)).toEqual(plan.map(() => 60));
  });

  it('continues without a shard that is refused, and one whose move was cancelled', async () => {
    const moves = steppingMoves(new Map<number, string>([...homes, [0, 'three']]));
    const cancelling: typeof moves.createMove = async (desired) => {
      const status = await moves.createMove(desired);
      return desired.shard === 1 ? moves.cancelMove({ shard: 1 }) : status;
    };
    const report = await rebalance({ ...moves, createMove: cancelling }, plan, { signal: never, pollMs: 1 });
    expect(report).toMatchObject({ moved: SHARDS - 2, complete: true });
    expect(report.not_moved).toEqual([
      { shard: 0, why: 'shard 0 is on three already' },
      { shard: 1, why: 'cancelled or taken back' },
    ]);
  });

  it('ends with the signal, and leaves the moves that were begun', async () => {
    const moves = steppingMoves(homes);
    const ended = new AbortController();
    const report = await rebalance(moves, plan, { signal: ended.signal, pollMs: 1, report: () => ended.abort() });
    expect(report.complete).toBe(false);
    expect(report.moved).toBeGreaterThan(0);
    expect(moves.asked.length).toBeLessThan(SHARDS);
    expect([...moves.all.values()].filter(({ step }) => step === 'cancelled')).toEqual([]);
  });

  it('retries while the API is unavailable, and throws what it refuses', async () => {
    let calls = 0;
    const moves = steppingMoves(homes);
    const unavailable: typeof moves.listMoves = async () => {
      calls += 1;
      if (calls % 2 === 1) throw new SchemalessError('unavailable', 'unavailable');
      return moves.listMoves();
    };
    const options = { signal: never, pollMs: 1 };
    expect(await rebalance({ ...moves, listMoves: unavailable }, plan, options)).toMatchObject({ moved: SHARDS });
    const createMove = () => Promise.reject(new SchemalessError('invalid_field', 'to: wanted a group'));
    const refusing = { ...steppingMoves(homes), createMove };
    await expect(rebalance(refusing, plan, options)).rejects.toMatchObject({ code: 'invalid_field' });
  });
});

it('a shard counts where its move takes it', async () => {
  const underWay = [
    moveStatus({ shard: 0, from: 'one', to: 'two', step: 'copying' }),
    moveStatus({ shard: 1, from: 'two', to: 'one', switches: 1, step: 'following' }),
    moveStatus({ shard: 2, from: 'one', to: 'two', step: 'dropping' }),
  ];
  const heads = ['one', 'two', 'one', 'one'].map((group, shard) => ({ shard, group, head: 1 }));
  const placed = await placedShards({ listMoves: async () => ({ moves: underWay }) }, heads);
  expect(placed.map(({ group, isMoving }) => [group, isMoving])).toEqual([
    ['two', true],
    ['two', true],
    ['one', true],
    ['one', false],
  ]);
});
