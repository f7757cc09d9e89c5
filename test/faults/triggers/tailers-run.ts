import { defaultPartitions } from '../../../shared/follow/follower-item.ts';
import { OffsetItems } from '../../../shared/follow/offset-items.ts';
import { triggerFollower } from '../../../shared/triggers/state/trigger-items.ts';
import { startTriggerStage } from '../../support/triggers/trigger-stage.ts';
import type { FaultRun } from '../fault-run.ts';
import { deliveryResult, isSpread, isWhole } from './deliveries.ts';
import { carryOutAll, twoWays } from './part.ts';
import { Scene } from './scene.ts';

const SHARDS = 64;

const SPREAD_BAR_SECONDS = 15;
const SPREAD_MOST_SECONDS = 20;
const SPREAD_BETWEEN_SECONDS = 2;
/** No tailer is declared dead while the control lasts. */
const NEVER_DEAD = { silenceMs: 120_000 };

/** 1, then 4, then 2 workers, while cells are written. */
const spreadShards = twoWays({
  name: 'spread',
  fault: '1, then 4, then 2 tailers',
  inTurn: true,
  async act(setting, name, inOrder) {
    const tailer = inOrder ? {} : { heartbeat: NEVER_DEAD };
    await using scene = await Scene.start(setting, { name, tailers: [] });
    const start = (slot: number) => scene.startTailer({ ...tailer, slots: [slot] });
    const seconds: (number | undefined)[] = [];
    const spread = async (workers: number): Promise<void> => {
      seconds.push(await secondsUntilSpread(scene, workers, defaultPartitions(SHARDS), SPREAD_MOST_SECONDS));
      await scene.wait(SPREAD_BETWEEN_SECONDS);
    };
    const first = await start(0);
    await spread(1);
    const [second, third, fourth] = [await start(1), await start(2), await start(3)];
    await spread(4);
    await Promise.all([first, third].map((one) => (inOrder ? one.stop() : one.kill())));
    await spread(2);
    setting.world.say(`${name}: spread after ${seconds.map((one) => one?.toFixed(1) ?? 'too many').join(', ')} s`);
    const verdict = await scene.conclude(inOrder ? {} : { patienceMs: 0 });
    await Promise.all([second, fourth].map((one) => one.stop()));
    await scene.end();
    return { seconds, verdict };
  },
  judge(real, control) {
    const text = ({ seconds }: typeof real): string =>
      seconds.map((one) => (one === undefined ? `over ${SPREAD_MOST_SECONDS}` : one.toFixed(1))).join(', ');
    const inTime = ({ seconds }: typeof real): boolean =>
      seconds.every((one) => one !== undefined && one <= SPREAD_BAR_SECONDS);
    return {
      checks: [
        {
          what: 'seconds until shards are spread over 1, 4, 2 tailers; deliveries; control: two that die unnoticed',
          result: `${text(real)}; ${deliveryResult(real.verdict)}`,
          bar: `${SPREAD_BAR_SECONDS}; 0, 0 of at least 500`,
          passed: inTime(real) && isWhole(real.verdict) && real.verdict.due >= 500,
          control: { result: text(control), failed: !inTime(control) },
        },
      ],
      cells: real.verdict.due,
    };
  },
});

const HAND_OVERS = 10;
const CONTROL_DEATHS = 2;
const HAND_OVER_BETWEEN_SECONDS = 1;
const HAND_OVER_BAR_SECONDS = 2;

/** Each minute a new run of the function takes over from the previous one. */
const handOver = twoWays({
  name: 'handed_over',
  fault: `${HAND_OVERS} hand-overs to a successor`,
  inTurn: true,
  async act(setting, name, inOrder) {
    await using scene = await Scene.start(setting, { name, tailers: [] });
    let current = await scene.startTailer({ slots: [0], once: true });
    await scene.until('the first cells are delivered', () => scene.deliveries().length > 0);
    await scene.wait(HAND_OVER_BETWEEN_SECONDS);
    const since = Date.now();
    const seconds: number[] = [];
    const isBack = (): boolean => (scene.deliveries().at(-1)?.at ?? 0) > Date.now() - 500;
    for (let number = 0; number < (inOrder ? HAND_OVERS : CONTROL_DEATHS); number += 1) {
      if (!inOrder) await current.kill();
      const start = performance.now();
      const next = await scene.startTailer({ slots: [0], once: true });
      await current.gone;
      seconds.push((performance.now() - start) / 1000);
      current = next;
      if (!inOrder) await scene.until('cells are delivered again', isBack);
      await scene.wait(HAND_OVER_BETWEEN_SECONDS);
    }
    const until = Date.now();
    const verdict = await scene.conclude();
    const times = scene.deliveries().map(({ at }) => at);
    await current.stop();
    await scene.end();
    return { verdict, seconds, longest: longestPause(times, since, until) / 1000 };
  },
  judge: (real, control) => ({
    checks: [
      {
        what: `longest pause in delivery, in seconds, across ${HAND_OVERS} hand-overs; deliveries; control: kill -9, then the next one`,
        result: `${real.longest.toFixed(2)}; ${deliveryResult(real.verdict)}`,
        bar: `${HAND_OVER_BAR_SECONDS}; 0, 0`,
        passed: real.longest <= HAND_OVER_BAR_SECONDS && isWhole(real.verdict),
        control: { result: control.longest.toFixed(2), failed: control.longest > HAND_OVER_BAR_SECONDS },
      },
    ],
    cells: real.verdict.due,
    notes: [
      `hand-overs: seconds from a successor's start to its predecessor's end: ${real.seconds.map((one) => one.toFixed(1)).join(', ')}`,
    ],
  }),
});

/** Returns the longest time without any delivery, in milliseconds: some dozens are written each second. */
function longestPause(times: readonly number[], since: number, until: number): number {
  const within = [since, ...times.filter((at) => at > since && at < until).sort((one, other) => one - other), until];
  return Math.max(...within.slice(1).map((at, position) => at - (within[position] ?? at)));
}

const WORKERS = 64;
const PROCESSES = 4;
const AFTER_SECONDS = 5;

/** As many workers as there are partitions: each has one, and none is left out. */
const manyWorkers = twoWays({
  name: 'crowd',
  fault: `${WORKERS} workers over ${WORKERS} partitions`,
  inTurn: true,
  async act(setting, name, isReal) {
    const partitions = isReal ? WORKERS : WORKERS / 2;
    await using scene = await Scene.start(setting, { name, tailers: [] });
    const slots = Array.from({ length: WORKERS }, (_, slot) => slot);
    const startProcess = (_: unknown, position: number) =>
      scene.startTailer({ slots: slots.filter((slot) => slot % PROCESSES === position), partitions });
    const processes = await Promise.all(Array.from({ length: PROCESSES }, startProcess));
    const seconds = await secondsUntilSpread(scene, WORKERS, partitions, isReal ? 60 : 15);
    await scene.wait(AFTER_SECONDS);
    let held: readonly number[] | undefined;
    const isGiven = async (): Promise<boolean> => (held = await assignments(scene, partitions)) !== undefined;
    await scene.until('DynamoDB says which worker holds what', isGiven);
    const workers = held?.filter((count) => count === 1).length ?? 0;
    const verdict = await scene.conclude();
    await Promise.all(processes.map((one) => one.stop()));
    await scene.end();
    return { seconds, workers, verdict };
  },
  judge: (real, control) => ({
    checks: [
      {
        what: `workers of ${WORKERS} that hold one partition each; deliveries; control: half as many partitions`,
        result: `${real.workers}; ${deliveryResult(real.verdict)}`,
        bar: `${WORKERS}; 0, 0`,
        passed: real.seconds !== undefined && real.workers === WORKERS && isWhole(real.verdict),
        control: { result: String(control.workers), failed: control.workers < WORKERS },
      },
    ],
    cells: real.verdict.due,
    notes: [
      `${WORKERS} workers in ${PROCESSES} processes held one partition each after ${real.seconds?.toFixed(1) ?? 'too many'} s`,
    ],
  }),
});

/** Returns how many partitions each worker holds, the most first; undefined if DynamoDB is too busy to answer. */
async function assignments(scene: Scene, partitions: number): Promise<readonly number[] | undefined> {
  const { datastore, trigger } = scene.access;
  const follower = { name: triggerFollower(trigger), datastore, shards: SHARDS, partitions };
  const items = new OffsetItems(scene.store.stateTable, follower);
  const counts = new Map<string, number>();
  try {
    for (let partition = 0; partition < partitions; partition += 1) {
      const owner = (await items.read(partition))?.owner ?? '';
      if (owner !== '') counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
  } catch {
    return undefined;
  }
  return [...counts.values()].sort((one, other) => other - one);
}

async function secondsUntilSpread(
  scene: Scene,
  workers: number,
  partitions: number,
  mostSeconds: number,
): Promise<number | undefined> {
  const start = performance.now();
  const isSo = async (): Promise<boolean> => isSpread(await assignments(scene, partitions), workers, partitions);
  try {
    await scene.until(`${workers} workers hold ${partitions} partitions`, isSo, mostSeconds * 1000);
    return (performance.now() - start) / 1000;
  } catch {
    return undefined;
  }
}

export const tailersRun: FaultRun = {
  name: 'tailers',
  promise: 'Workers come and go; shards spread over those that are there, and nothing is skipped or waits for long',
  fault: '8 writers; 1, then 4, then 2 tailers; ten hand-overs to successors; 64 workers over 64 partitions',
  control:
    'workers that die and are not taken for dead; workers that are killed instead of succeeded; half as many partitions',
  alone: true,

  async run(world) {
    await using stage = await startTriggerStage(world, { groups: 2, readers: 0, shards: SHARDS });
    return await carryOutAll({ world, stage }, [spreadShards, handOver, manyWorkers]);
  },
};
