import type { RunWorld } from '../../support/run-world.ts';
import { CONTROL_PATIENCE_MS, type Part } from './part.ts';
import { deliveryFigure, isWhole } from './judge-deliveries.ts';
import { QUICK_LEASES, Scene } from './scene.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';
import { watchOffsets } from './watch-offsets.ts';

const LEASE_TIMES = 3;
const PAUSES = 3;
/** Between pauses, so that everybody holds its share again. */
const BETWEEN_SECONDS = 3;
/** Few, so that the offsets of all of them can be looked at often. */
const PARTITIONS = 6;
const CLOCKS_MS = 10 * 60_000;
/** So often that a successor has written its own offsets before the one that was paused goes on. */
const COMMIT_EVERY_MS = 500;

/** A holder that was paused cannot set back what its successor has done; and no clock is compared with another. */
export const pausedHolders: Part = {
  fault: `a lease holder paused for ${LEASE_TIMES} lease times, ${PAUSES} times; clocks ${CLOCKS_MS / 60_000} minutes apart`,

  async carryOut(world, stage) {
    const [real, control] = await Promise.all([
      pause(world, stage, 'paused', true),
      pause(world, stage, 'paused_control', false),
    ]);
    return {
      checks: [
        {
          what: `holders paused, clocks apart: offsets that went back; deliveries; control: commits not fenced`,
          figure: `${real.history.back}; ${deliveryFigure(real.verdict)}`,
          bar: '0; 0, 0',
          passed: real.history.back === 0 && isWhole(real.verdict),
          control: {
            figure: `${control.history.back}; ${deliveryFigure(control.verdict)}`,
            failed: control.history.back > 0,
          },
        },
      ],
      cells: real.verdict.due,
      notes: [`the offsets were looked at ${real.history.looks} times; control: ${control.history.looks}`],
    };
  },
};

async function pause(world: RunWorld, stage: TriggerStage, name: string, commitFence: boolean) {
  await using scene = await Scene.start(world, stage, {
    name,
    tailers: [0, CLOCKS_MS, 2 * CLOCKS_MS].map((clockMs) => ({
      heartbeat: QUICK_LEASES,
      partitions: PARTITIONS,
      settings: { commitEveryMs: COMMIT_EVERY_MS },
      variation: { clockMs, commitFence },
    })),
  });
  const watch = watchOffsets(scene.access, stage.shards);
  for (let number = 0; number < PAUSES; number += 1) {
    await scene.wait(BETWEEN_SECONDS);
    const tailer = scene.tailers[number % scene.tailers.length];
    tailer?.pause();
    await scene.wait((LEASE_TIMES * QUICK_LEASES.silenceMs) / 1000);
    tailer?.resume();
  }
  await scene.wait(BETWEEN_SECONDS);
  await scene.stopWriters();
  const verdict = await scene.settle(commitFence ? {} : { patienceMs: CONTROL_PATIENCE_MS });
  const history = await watch.stop();
  await scene.end();
  return { verdict, history };
}
