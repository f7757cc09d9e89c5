import type { RunWorld } from '../../support/run-world.ts';
import { deliveryFigure, isWhole } from './judge-deliveries.ts';
import { LEAST_CELLS, type Part } from './part.ts';
import { rewindToStart } from './rewind-to-start.ts';
import { Scene } from './scene.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';

const BEFORE_SECONDS = 6;

/** A rewind holds from when it is answered, whatever the holders of the leases are about to commit. */
export const rewinds: Part = {
  fault: 'a rewind to the start while workers hold the leases and commit',

  async carryOut(world, stage) {
    const [real, control] = await Promise.all([
      rewind(world, stage, 'rewound', true),
      rewind(world, stage, 'rewound_control', false),
    ]);
    return {
      checks: [
        {
          what: 'cells before a rewind, sent again; control: commits that do not look at the generation',
          figure: deliveryFigure(real),
          bar: `0, 0 of at least ${LEAST_CELLS}`,
          passed: isWhole(real) && real.due >= LEAST_CELLS,
          control: { figure: deliveryFigure(control), failed: !isWhole(control) },
        },
      ],
      cells: real.due,
      notes: [],
    };
  },
};

async function rewind(world: RunWorld, stage: TriggerStage, name: string, generationFence: boolean) {
  await using scene = await Scene.start(world, stage, {
    name,
    tailers: [0, 1].map(() => ({ variation: { generationFence } })),
  });
  await scene.load(BEFORE_SECONDS, LEAST_CELLS);
  await scene.until('cells are delivered', () => scene.deliveries().length >= LEAST_CELLS);
  // The writers go on: offsets move, and are committed, all the time.
  const verdict = await rewindToStart(scene);
  await scene.stopWriters();
  await scene.end();
  return verdict;
}
