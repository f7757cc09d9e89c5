import { bothWays, deliveryFigure, isWhole, LEAST_CELLS, type Part, type Setting } from './part.ts';
import { Scene } from './scene.ts';

const BEFORE_SECONDS = 6;

/** A rewind holds from when it is answered, whatever the holders of the leases are about to commit. */
export const rewinds: Part = {
  fault: 'a rewind to the start while workers hold the leases and commit',

  async carryOut(setting) {
    const [real, control] = await bothWays('rewound', (name, isReal) => rewind(setting, name, isReal));
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

async function rewind(setting: Setting, name: string, generationFence: boolean) {
  const tailers = [0, 1].map(() => ({ variation: { generationFence } }));
  await using scene = await Scene.start(setting, { name, tailers });
  await scene.load(BEFORE_SECONDS, LEAST_CELLS);
  await scene.until('cells are delivered', () => scene.deliveries().length >= LEAST_CELLS);
  // The writers go on: offsets move, and are committed, all the time.
  const verdict = await scene.rewindToStart();
  await scene.stopWriters();
  await scene.end();
  return verdict;
}
