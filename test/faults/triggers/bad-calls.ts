import { grouped } from '../fault-run.ts';
import { deliveryCheck, LEAST_CELLS, twoWays } from './part.ts';
import { Scene } from './scene.ts';

const FAILING = 0.2;
const FAILING_CELLS = 400;

/** Failed calls are retried, and later cells of the shard wait. */
export const failingCalls = twoWays({
  name: 'failing',
  fault: `${FAILING * 100} % of the function's calls fail`,
  async act(setting, name, isReal) {
    const consumer = { failing: FAILING, forgets: !isReal };
    // Each failure delays its shard by a second or more.
    await using scene = await Scene.start(setting, { name, consumer, consumers: 2, pauseMs: 150 });
    if (isReal) await scene.load(setting.world.seconds ?? 10, FAILING_CELLS);
    else await scene.load(6, LEAST_CELLS);
    const verdict = await scene.conclude({ isReal });
    const called = scene.called();
    await scene.end();
    return { verdict, ...called };
  },
  judge({ verdict, calls, failed }, control) {
    const what = `${FAILING * 100} % of calls fail; control: failures not noticed`;
    return {
      checks: [deliveryCheck(what, verdict, control.verdict, FAILING_CELLS)],
      cells: verdict.due,
      notes: [`${grouped(failed)} of ${grouped(calls)} calls failed, ${verdict.repeats} cells were delivered again`],
    };
  },
});
