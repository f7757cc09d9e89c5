import type { RunWorld } from '../../support/run-world.ts';
import { CONTROL_PATIENCE_MS, deliveryCheck, LEAST_CELLS, type Part } from './part.ts';
import { Scene } from './scene.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';

const FAILING = 0.2;
const SECONDS = 10;
const CONTROL_SECONDS = 6;
const CELLS = 400;
/** Each failure holds its shard up for a second or more. */
const PAUSE_MS = 150;

/** Calls that fail are made again, and what is behind them in the shard waits. */
export const failingCalls: Part = {
  fault: `${FAILING * 100} % of the function's calls fail`,

  async carryOut(world, stage) {
    const [real, control] = await Promise.all([
      fail(world, stage, 'failing', false),
      fail(world, stage, 'failing_control', true),
    ]);
    return {
      checks: [
        deliveryCheck(
          `${FAILING * 100} % of calls fail; control: failures not noticed`,
          real.verdict,
          control.verdict,
          CELLS,
        ),
      ],
      cells: real.verdict.due,
      notes: [
        `${real.failed.toLocaleString('en-US')} of ${real.calls.toLocaleString('en-US')} calls failed, ${real.verdict.repeats} cells were delivered again`,
      ],
    };
  },
};

async function fail(world: RunWorld, stage: TriggerStage, name: string, forgets: boolean) {
  await using scene = await Scene.start(world, stage, {
    name,
    consumer: { failing: FAILING, forgets },
    consumers: 2,
    pauseMs: PAUSE_MS,
  });
  await scene.load(forgets ? CONTROL_SECONDS : (world.seconds ?? SECONDS), forgets ? LEAST_CELLS : CELLS);
  await scene.stopWriters();
  const verdict = await scene.settle(forgets ? { patienceMs: CONTROL_PATIENCE_MS } : {});
  const { calls, failed } = scene.called();
  await scene.end();
  return { verdict, calls, failed };
}
