import { deliveryFigure, isWhole, type Part, type Setting } from '../triggers/part.ts';
import { Scene } from '../triggers/scene.ts';
import { holdings, secondsUntilSpread } from './owners.ts';

const WORKERS = 64;
const PROCESSES = 4;
const MOST_SECONDS = 60;
const CONTROL_SECONDS = 15;
const AFTER_SECONDS = 5;

/** As many workers as there are partitions: each has one, and none is left out. */
export const manyWorkers: Part = {
  fault: `${WORKERS} workers over ${WORKERS} partitions`,

  async carryOut(setting) {
    const real = await crowd(setting, 'crowd', WORKERS);
    const control = await crowd(setting, 'crowd_control', WORKERS / 2);
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

async function crowd(setting: Setting, name: string, partitions: number) {
  const { shards } = setting.stage;
  await using scene = await Scene.start(setting, { name, tailers: [] });
  const slots = Array.from({ length: WORKERS }, (_, slot) => slot);
  const processes = await Promise.all(
    Array.from({ length: PROCESSES }, (_, position) =>
      scene.startTailer({ slots: slots.filter((slot) => slot % PROCESSES === position), partitions }),
    ),
  );
  const mostSeconds = partitions === WORKERS ? MOST_SECONDS : CONTROL_SECONDS;
  const seconds = await secondsUntilSpread(scene, { workers: WORKERS, shards, partitions, mostSeconds });
  await scene.wait(AFTER_SECONDS);
  let held: readonly number[] | undefined;
  const isSaid = async (): Promise<boolean> => (held = await holdings(scene, shards, partitions)) !== undefined;
  await scene.until('DynamoDB says who holds what', isSaid);
  const workers = held?.filter((count) => count === 1).length ?? 0;
  const verdict = await scene.conclude();
  await Promise.all(processes.map((one) => one.stop()));
  await scene.end();
  return { seconds, workers, verdict };
}
