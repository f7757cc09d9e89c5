import { deliveryFigure, isWhole, type Part, type Setting } from '../triggers/part.ts';
import { Scene } from '../triggers/scene.ts';

const HAND_OVERS = 10;
const CONTROL_DEATHS = 2;
/** After a successor has taken over. */
const BETWEEN_SECONDS = 1;
const BAR_SECONDS = 2;

/** Each minute a new run of the function takes over from the one before. */
export const handOver: Part = {
  fault: `${HAND_OVERS} hand-overs to a successor`,

  async carryOut(setting) {
    const real = await handOn(setting, 'handed_over', true);
    const control = await handOn(setting, 'handed_over_control', false);
    return {
      checks: [
        {
          what: `longest pause in delivery, in seconds, across ${HAND_OVERS} hand-overs; deliveries; control: kill -9, then the next one`,
          figure: `${real.longest.toFixed(2)}; ${deliveryFigure(real.verdict)}`,
          bar: `${BAR_SECONDS}; 0, 0`,
          passed: real.longest <= BAR_SECONDS && isWhole(real.verdict),
          control: { figure: control.longest.toFixed(2), failed: control.longest > BAR_SECONDS },
        },
      ],
      cells: real.verdict.due,
      notes: [
        `hand-overs: seconds from a successor's start to its predecessor's end: ${real.seconds.map((one) => one.toFixed(1)).join(', ')}`,
      ],
    };
  },
};

async function handOn(setting: Setting, name: string, inOrder: boolean) {
  await using scene = await Scene.start(setting, { name, tailers: [] });
  let current = await scene.startTailer({ slots: [0], once: true });
  await scene.until('the first cells are delivered', () => scene.deliveries().length > 0);
  await scene.wait(BETWEEN_SECONDS);
  const since = Date.now();
  const seconds: number[] = [];
  for (let number = 0; number < (inOrder ? HAND_OVERS : CONTROL_DEATHS); number += 1) {
    if (!inOrder) await current.kill();
    const start = performance.now();
    const next = await scene.startTailer({ slots: [0], once: true });
    // It ends by itself once the next one holds everything.
    await current.gone;
    seconds.push((performance.now() - start) / 1000);
    current = next;
    if (!inOrder)
      await scene.until('cells are delivered again', () => (scene.deliveries().at(-1)?.at ?? 0) > Date.now() - 500);
    await scene.wait(BETWEEN_SECONDS);
  }
  const until = Date.now();
  const verdict = await scene.conclude();
  const times = scene.deliveries().map(({ at }) => at);
  await current.stop();
  await scene.end();
  return { verdict, seconds, longest: longestPause(times, since, until) / 1000 };
}

/** The longest time without any delivery, in milliseconds: some dozens are written each second. */
function longestPause(times: readonly number[], since: number, until: number): number {
  const within = [since, ...times.filter((at) => at > since && at < until).sort((one, other) => one - other), until];
  return Math.max(...within.slice(1).map((at, position) => at - (within[position] ?? at)));
}
