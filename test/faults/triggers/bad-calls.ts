import { grouped } from '../fault-run.ts';
import { deliveryCheck, LEAST_CELLS, twoWays } from './part.ts';
import { Scene } from './scene.ts';

const FAILING = 0.2;
const FAILING_CELLS = 400;

/** Calls that fail are made again, and what is behind them in the shard waits. */
export const failingCalls = twoWays({
  name: 'failing',
  fault: `${FAILING * 100} % of the function's calls fail`,
  async act(setting, name, isReal) {
    const consumer = { failing: FAILING, forgets: !isReal };
    // Each failure holds its shard up for a second or more.
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

const REFUSED = 40;
const PARTIAL_CELLS = 500;

/** What the queue refused is sent before anything behind it. */
export const partialSends = twoWays({
  name: 'partial',
  fault: `sends of several cells refused for the third only, ${REFUSED} times`,
  async act(setting, name, isReal) {
    const tailers = [{ variation: { refusesThird: REFUSED, resendsFromRefused: isReal } }];
    // Many cells a second, so that many wait for one send.
    await using scene = await Scene.start(setting, { name, pauseMs: 10, tailers });
    await scene.load(8, PARTIAL_CELLS);
    await scene.until('enough sends are refused', () => scene.tailed('refused') >= REFUSED);
    const verdict = await scene.conclude({ isReal });
    await scene.end();
    return { verdict, refused: scene.tailed('refused') };
  },
  judge({ verdict, refused }, control) {
    const what = `${refused} sends refused for the third only; control: it alone is sent again`;
    return {
      checks: [deliveryCheck(what, verdict, control.verdict, PARTIAL_CELLS)],
      cells: verdict.due,
      notes: [`control: ${control.refused} sends refused`],
    };
  },
});

/** A rewind holds from when it is answered, whatever the holders of the leases are about to commit. */
export const rewinds = twoWays({
  name: 'rewound',
  fault: 'a rewind to the start while workers hold the leases and commit',
  async act(setting, name, generationFence) {
    const tailers = [0, 1].map(() => ({ variation: { generationFence } }));
    await using scene = await Scene.start(setting, { name, tailers });
    await scene.load(6, LEAST_CELLS);
    await scene.until('cells are delivered', () => scene.deliveries().length >= LEAST_CELLS);
    // The writers go on: offsets move, and are committed, all the time.
    const verdict = await scene.rewindToStart();
    await scene.stopWriters();
    await scene.end();
    return verdict;
  },
  judge(real, control) {
    const what = 'cells before a rewind, sent again; control: commits that do not look at the generation';
    return { checks: [deliveryCheck(what, real, control)], cells: real.due };
  },
});
