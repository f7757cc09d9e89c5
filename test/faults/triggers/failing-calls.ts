import { grouped } from '../fault-run.ts';
import { bothWays, deliveryCheck, LEAST_CELLS, type Part, type Setting } from './part.ts';
import { Scene } from './scene.ts';

const FAILING = 0.2;
const SECONDS = 10;
const CONTROL_SECONDS = 6;
const CELLS = 400;
/** Each failure holds its shard up for a second or more. */
const PAUSE_MS = 150;

/** Calls that fail are made again, and what is behind them in the shard waits. */
export const failingCalls: Part = {
  fault: `${FAILING * 100} % of the function's calls fail`,

  async carryOut(setting) {
    const [real, control] = await bothWays('failing', (name, isReal) => fail(setting, name, isReal));
    const what = `${FAILING * 100} % of calls fail; control: failures not noticed`;
    return {
      checks: [deliveryCheck(what, real.verdict, control.verdict, CELLS)],
      cells: real.verdict.due,
      notes: [
        `${grouped(real.failed)} of ${grouped(real.calls)} calls failed, ${real.verdict.repeats} cells were delivered again`,
      ],
    };
  },
};

async function fail(setting: Setting, name: string, isReal: boolean) {
  const consumer = { failing: FAILING, forgets: !isReal };
  await using scene = await Scene.start(setting, { name, consumer, consumers: 2, pauseMs: PAUSE_MS });
  if (isReal) await scene.load(setting.world.seconds ?? SECONDS, CELLS);
  else await scene.load(CONTROL_SECONDS, LEAST_CELLS);
  const verdict = await scene.conclude({ isReal });
  const { calls, failed } = scene.called();
  await scene.end();
  return { verdict, calls, failed };
}
