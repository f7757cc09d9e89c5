import { describe, expect, it } from 'vitest';
import type { PlannedMove } from '../../../shared/contract/shard-plan.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { PlanProgress } from '../../../shared/moves/plan-progress.ts';
import { runPlan } from '../../../shared/moves/run-plan.ts';
import { steppingMoves } from './stepping-moves.ts';

const SHARDS = 6;
const BYTES = 100;
const never = new AbortController().signal;

/** Shards of two groups, of which all go to a third. */
const homes = new Map(Array.from({ length: SHARDS }, (_, shard) => [shard, shard % 2 === 0 ? 'one' : 'two']));
const plan = [...homes].map(([shard, from]): PlannedMove => ({ shard, from, to: 'three', bytes: BYTES }));

describe('the run of a plan', () => {
  it('brings every shard where it should be, each to be completed by itself', async () => {
    const moves = steppingMoves(homes);
    const report = await runPlan(moves, plan, { signal: never, pollMs: 1, completeAfterSeconds: 60 });
    expect(report).toMatchObject({
      moves: SHARDS,
      moved: SHARDS,
      under_way: 0,
      bytes_moved: SHARDS * BYTES,
      percent: 100,
      eta_seconds: 0,
      not_moved: [],
      complete: true,
    });
    expect([...moves.homes.values()]).toEqual(plan.map(() => 'three'));
    expect(Math.max(...moves.most.values())).toBe(1);
    expect([...moves.all.values()].map((one) => one.complete_after_seconds)).toEqual(plan.map(() => 60));
  });

  it('counts no byte before its shard has moved, and none that was taken back', async () => {
    const moves = steppingMoves(homes);
    const seen: PlanProgress[] = [];
    let isBack = false;
    const report = await runPlan(moves, plan, {
      signal: never,
      pollMs: 1,
      tell(progress) {
        const moved = plan.filter(({ shard, to }) => moves.homes.get(shard) === to);
        expect(progress.bytes_moved).toBe(moved.length * BYTES);
        expect(progress.percent === 100).toBe(moved.length === plan.length);
        seen.push(progress);
        const status = moves.all.get(0);
        if (status?.switches === 1 && status.step === 'following' && !isBack) {
          isBack = true;
          void moves.reverseMove(0);
        }
      },
    });
    expect(seen[0]).toMatchObject({ bytes_moved: 0, percent: 0, bytes_per_second: 0, eta_seconds: null });
    expect(isBack).toBe(true);
    expect(report).toMatchObject({ moved: SHARDS - 1, not_moved: [{ shard: 0, why: 'somebody took it back' }] });
    expect(report.percent).toBeLessThan(100);
  });

  it('goes on without a shard that is refused, and one whose move was cancelled', async () => {
    const moves = steppingMoves(new Map<number, string>([...homes, [0, 'three']]));
    let isCancelled = false;
    const report = await runPlan(moves, plan, {
      signal: never,
      pollMs: 1,
      tell() {
        if (isCancelled || !moves.all.has(1)) return;
        isCancelled = true;
        void moves.cancelMove(1);
      },
    });
    expect(report.not_moved).toEqual([
      { shard: 0, why: 'shard 0 is on three already' },
      { shard: 1, why: 'somebody cancelled it' },
    ]);
    expect(report).toMatchObject({ moved: SHARDS - 2, complete: true });
  });

  it('ends with the signal, and leaves the moves as they are', async () => {
    const moves = steppingMoves(homes);
    const ended = new AbortController();
    const report = await runPlan(moves, plan, {
      signal: ended.signal,
      pollMs: 1,
      tell({ moved }) {
        if (moved > 0) ended.abort();
      },
    });
    expect(report.complete).toBe(false);
    expect(report.moved).toBeGreaterThan(0);
    expect([...moves.all.values()].filter(({ step }) => step === 'cancelled')).toEqual([]);
  });

  it('asks on while the API is away, and tells what it refuses', async () => {
    let calls = 0;
    const moves = steppingMoves(homes);
    const away: typeof moves.moves = async () => {
      calls += 1;
      if (calls % 2 === 1) throw new SchemalessError('unavailable', 'away');
      return moves.moves();
    };
    expect(await runPlan({ ...moves, moves: away }, plan, { signal: never, pollMs: 1 })).toMatchObject({
      moved: SHARDS,
    });
    const refusing = steppingMoves(homes, {
      createMove: async () => {
        throw new SchemalessError('invalid_field', 'to: wanted a group');
      },
    });
    await expect(runPlan(refusing, plan, { signal: never, pollMs: 1 })).rejects.toMatchObject({
      code: 'invalid_field',
    });
  });
});
