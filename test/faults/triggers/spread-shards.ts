import { defaultPartitions } from '../../../shared/follow/follower-item.ts';
import { deliveryFigure, isWhole, type Part, type Setting } from '../triggers/part.ts';
import { Scene } from '../triggers/scene.ts';
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

  async carryOut(setting) {
    const real = await comeAndGo(setting, 'spread', true);
    const control = await comeAndGo(setting, 'spread_control', false);
    const text = ({ seconds }: typeof real): string =>
      seconds.map((one) => (one === undefined ? `over ${MOST_SECONDS}` : one.toFixed(1))).join(', ');
    const inTime = ({ seconds }: typeof real): boolean =>
      seconds.every((one) => one !== undefined && one <= BAR_SECONDS);
    return {
      checks: [
        {
          what: 'seconds until shards are spread over 1, 4, 2 tailers; deliveries; control: two that die unnoticed',
          figure: `${text(real)}; ${deliveryFigure(real.verdict)}`,
          bar: `${BAR_SECONDS}; 0, 0 of at least 500`,
          passed: inTime(real) && isWhole(real.verdict) && real.verdict.due >= 500,
          control: { figure: text(control), failed: !inTime(control) },
        },
      ],
      cells: real.verdict.due,
      notes: [],
    };
  },
};

async function comeAndGo(setting: Setting, name: string, inOrder: boolean) {
  const { shards } = setting.stage;
  const tailer = inOrder ? {} : { heartbeat: NEVER_DEAD };
  await using scene = await Scene.start(setting, { name, tailers: [] });
  const start = (slot: number) => scene.startTailer({ ...tailer, slots: [slot] });
  const spread = (workers: number): Promise<number | undefined> =>
    secondsUntilSpread(scene, { workers, shards, partitions: defaultPartitions(shards), mostSeconds: MOST_SECONDS });
  const first = await start(0);
  const seconds = [await spread(1)];
  await scene.wait(BETWEEN_SECONDS);
  const [second, third, fourth] = [await start(1), await start(2), await start(3)];
  seconds.push(await spread(4));
  await scene.wait(BETWEEN_SECONDS);
  // One that was there first, and one that came later.
  await Promise.all([first, third].map((one) => (inOrder ? one.stop() : one.kill())));
  seconds.push(await spread(2));
  setting.world.say(`${name}: spread after ${seconds.map((one) => one?.toFixed(1) ?? 'too many').join(', ')} s`);
  await scene.wait(BETWEEN_SECONDS);
  const verdict = await scene.conclude(inOrder ? {} : { patienceMs: 0 });
  await Promise.all([second, fourth].map((one) => one.stop()));
  await scene.end();
  return { seconds, verdict };
}
