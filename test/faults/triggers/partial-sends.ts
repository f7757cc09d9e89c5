import type { RunWorld } from '../../support/run-world.ts';
import { CONTROL_PATIENCE_MS, deliveryCheck, type Part } from './part.ts';
import { Scene } from './scene.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';

const SECONDS = 8;
const CELLS = 500;
const REFUSED = 40;
/** Many cells a second, so that many wait for one send. */
const PAUSE_MS = 10;

/** What the queue refused is sent before anything behind it. */
export const partialSends: Part = {
  fault: `sends of several cells refused for the third only, ${REFUSED} times`,

  async carryOut(world, stage) {
    const [real, control] = await Promise.all([
      send(world, stage, 'partial', true),
      send(world, stage, 'partial_control', false),
    ]);
    return {
      checks: [
        deliveryCheck(
          `${real.refused} sends refused for the third only; control: it alone is sent again`,
          real.verdict,
          control.verdict,
          CELLS,
        ),
      ],
      cells: real.verdict.due,
      notes: [`control: ${control.refused} sends refused`],
    };
  },
};

async function send(world: RunWorld, stage: TriggerStage, name: string, resendsFromRefused: boolean) {
  await using scene = await Scene.start(world, stage, {
    name,
    pauseMs: PAUSE_MS,
    tailers: [{ variation: { refusesThird: REFUSED, resendsFromRefused } }],
  });
  await scene.load(SECONDS, CELLS);
  await scene.until('enough sends are refused', () => scene.tailed('refused') >= REFUSED);
  await scene.stopWriters();
  const verdict = await scene.settle(resendsFromRefused ? {} : { patienceMs: CONTROL_PATIENCE_MS });
  await scene.end();
  return { verdict, refused: scene.tailed('refused') };
}
