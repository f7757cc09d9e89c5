import { defaultPartitions } from '../../../shared/follow/follower-item.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { deliveryFigure, isWhole } from '../triggers/judge-deliveries.ts';
import type { Part } from '../triggers/part.ts';
import { Scene } from '../triggers/scene.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';
import { secondsUntilSpread } from './owners.ts';

const BAR_SECONDS = 15;
const MOST_SECONDS = 20;
/** Each number of workers lasts so long after it is reached. */
const BETWEEN_SECONDS = 2;
/** Nobody is taken for dead while the control lasts. */
const NEVER_DEAD = { silenceMs: 120_000 };

/** 1, then 4, then 2 workers, while cells are written. */
export const spreadShards: Part = {
  fault: '1, then 4, then 2 tailers',

  async carryOut(world, stage) {
    const real = await comeAndGo(world, stage, 'spread', true);
    const control = await comeAndGo(world, stage, 'spread_control', false);
    const text = (seconds: readonly (number | undefined)[]): string =>
      seconds.map((one) => (one === undefined ? `over ${MOST_SECONDS}` : one.toFixed(1))).join(', ');
    return {
      checks: [
        {
          what: 'seconds until shards are spread over 1, 4, 2 tailers; deliveries; control: two that die unnoticed',
          figure: `${text(real.seconds)}; ${deliveryFigure(real.verdict)}`,
          bar: `${BAR_SECONDS}; 0, 0 of at least 500`,
          passed:
            real.seconds.every((one) => one !== undefined && one <= BAR_SECONDS) &&
            isWhole(real.verdict) &&
            real.verdict.due >= 500,
          control: {
            figure: text(control.seconds),
            failed: control.seconds.some((one) => one === undefined || one > BAR_SECONDS),
          },
        },
      ],
      cells: real.verdict.due,
      notes: [],
    };
  },
};

async function comeAndGo(world: RunWorld, stage: TriggerStage, name: string, inOrder: boolean) {
  const tailer = inOrder ? {} : { heartbeat: NEVER_DEAD };
  await using scene = await Scene.start(world, stage, { name, tailers: [] });
  const start = (slot: number) => scene.startTailer({ ...tailer, slots: [slot] });
  const spread = (workers: number): Promise<number | undefined> =>
    secondsUntilSpread(scene, {
      workers,
      shards: stage.shards,
      partitions: defaultPartitions(stage.shards),
      mostSeconds: MOST_SECONDS,
    });
  const first = await start(0);
  const seconds = [await spread(1)];
  await scene.wait(BETWEEN_SECONDS);
  const [second, third, fourth] = [await start(1), await start(2), await start(3)];
  seconds.push(await spread(4));
  await scene.wait(BETWEEN_SECONDS);
  // One that was there first, and one that came later.
  await Promise.all([first, third].map((one) => (inOrder ? one.stop() : one.kill())));
  seconds.push(await spread(2));
  world.say(`${name}: spread after ${seconds.map((one) => one?.toFixed(1) ?? 'too many').join(', ')} s`);
  await scene.wait(BETWEEN_SECONDS);
  await scene.stopWriters();
  const verdict = await scene.settle(inOrder ? {} : { patienceMs: 0 });
  await Promise.all([second, fourth].map((one) => one.stop()));
  await scene.end();
  return { seconds, verdict };
}
