import type { RunWorld } from '../../support/run-world.ts';
import { deliveryFigure, isWhole } from '../triggers/judge-deliveries.ts';
import type { Part } from '../triggers/part.ts';
import { Scene } from '../triggers/scene.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';
import { holdings, secondsUntilSpread } from './owners.ts';

const WORKERS = 64;
const PROCESSES = 4;
const MOST_SECONDS = 60;
const CONTROL_SECONDS = 15;
const AFTER_SECONDS = 5;

/** As many workers as there are partitions: each has one, and none is left out. */
export const manyWorkers: Part = {
  fault: `${WORKERS} workers over ${WORKERS} partitions`,

  async carryOut(world, stage) {
    const real = await crowd(world, stage, 'crowd', WORKERS);
    const control = await crowd(world, stage, 'crowd_control', WORKERS / 2);
    return {
      checks: [
        {
          what: `workers of ${WORKERS} that hold one partition each; deliveries; control: half as many partitions`,
          figure: `${real.workers}; ${deliveryFigure(real.verdict)}`,
          bar: `${WORKERS}; 0, 0`,
          passed: real.seconds !== undefined && real.workers === WORKERS && isWhole(real.verdict),
          control: { figure: String(control.workers), failed: control.workers < WORKERS },
        },
      ],
      cells: real.verdict.due,
      notes: [
        `${WORKERS} workers in ${PROCESSES} processes held one partition each after ${real.seconds?.toFixed(1) ?? 'too many'} s`,
      ],
    };
  },
};

async function crowd(world: RunWorld, stage: TriggerStage, name: string, partitions: number) {
  await using scene = await Scene.start(world, stage, { name, tailers: [] });
  const slots = Array.from({ length: WORKERS }, (_, slot) => slot);
  const processes = await Promise.all(
    Array.from({ length: PROCESSES }, (_, place) =>
      scene.startTailer({ slots: slots.filter((slot) => slot % PROCESSES === place), partitions }),
    ),
  );
  const seconds = await secondsUntilSpread(scene, {
    workers: WORKERS,
    shards: stage.shards,
    partitions,
    mostSeconds: partitions === WORKERS ? MOST_SECONDS : CONTROL_SECONDS,
  });
  await scene.wait(AFTER_SECONDS);
  let held: readonly number[] | undefined;
  await scene.until(
    'DynamoDB says who holds what',
    async () => (held = await holdings(scene, stage.shards, partitions)) !== undefined,
  );
  const workers = held?.filter((count) => count === 1).length ?? 0;
  await scene.stopWriters();
  const verdict = await scene.settle();
  await Promise.all(processes.map((one) => one.stop()));
  await scene.end();
  return { seconds, workers, verdict };
}
