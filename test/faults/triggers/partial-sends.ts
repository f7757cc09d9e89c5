import { bothWays, deliveryCheck, type Part, type Setting } from './part.ts';
import { Scene } from './scene.ts';

const SECONDS = 8;
const CELLS = 500;
const REFUSED = 40;
/** Many cells a second, so that many wait for one send. */
const PAUSE_MS = 10;

/** What the queue refused is sent before anything behind it. */
export const partialSends: Part = {
  fault: `sends of several cells refused for the third only, ${REFUSED} times`,

  async carryOut(setting) {
    const [real, control] = await bothWays('partial', (name, isReal) => send(setting, name, isReal));
    const what = `${real.refused} sends refused for the third only; control: it alone is sent again`;
    return {
      checks: [deliveryCheck(what, real.verdict, control.verdict, CELLS)],
      cells: real.verdict.due,
      notes: [`control: ${control.refused} sends refused`],
    };
  },
};

async function send(setting: Setting, name: string, isReal: boolean) {
  const tailers = [{ variation: { refusesThird: REFUSED, resendsFromRefused: isReal } }];
  await using scene = await Scene.start(setting, { name, pauseMs: PAUSE_MS, tailers });
  await scene.load(SECONDS, CELLS);
  await scene.until('enough sends are refused', () => scene.tailed('refused') >= REFUSED);
  const verdict = await scene.conclude({ isReal });
  await scene.end();
  return { verdict, refused: scene.tailed('refused') };
}
