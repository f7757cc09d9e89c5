import type { Service } from '../../../infra/local/emulators/emulator.ts';
import { killWithDisk, stopReceiving, untilAllRun } from '../../support/nodes.ts';
import type { Phase } from '../load/latency.ts';
import { isWhole } from './deliveries.ts';
import { deliveryCheck, type Part, type Setting } from './part.ts';
import { Scene } from './scene.ts';

const UNAVAILABLE_SECONDS = 20;
/** Seconds into an outage: earlier sends are delivered by then. */
const DRAINED_SECONDS = 8;
const BETWEEN_OUTAGES_SECONDS = 5;

/** While the state is unavailable the held shards continue; while the queue is unavailable everything waits. */
export const outages: Part = {
  fault: `DynamoDB gone for ${UNAVAILABLE_SECONDS} s; SQS gone for ${UNAVAILABLE_SECONDS} s`,

  async carryOut(setting) {
    const { say } = setting.world;
    const { shards: all, dynamo, sqs } = setting.stage;
    await using real = await Scene.start(setting, { name: 'outages' });
    await using control = await Scene.start(setting, {
      name: 'outages_control',
      tailers: [{ variation: { goesOnWithoutState: false, waitsForQueue: false } }],
    });
    const unavailable = async (service: Service, name: string): Promise<Phase> => {
      say(`${name} is gone`);
      await service.kill();
      const from = Date.now();
      await real.wait(UNAVAILABLE_SECONDS);
      const to = Date.now();
      await service.resume();
      say(`${name} is back`);
      return { from, to };
    };
    await real.wait(BETWEEN_OUTAGES_SECONDS);
    const { from, to } = await unavailable(dynamo, 'DynamoDB');
    const goingOn = (scene: Scene): number => {
      const meanwhile = scene.deliveries().filter(({ at }) => at > from + DRAINED_SECONDS * 1000 && at < to);
      return new Set(meanwhile.map(({ shard }) => shard)).size;
    };
    const [shards, controlShards] = [goingOn(real), goingOn(control)];
    await real.wait(BETWEEN_OUTAGES_SECONDS);
    await unavailable(sqs, 'SQS');
    await real.wait(BETWEEN_OUTAGES_SECONDS);
    const [verdict, controlVerdict] = await Promise.all([real.conclude(), control.conclude({ isReal: false })]);
    await Promise.all([real.end(), control.end()]);
    const what = `DynamoDB, then SQS gone for ${UNAVAILABLE_SECONDS} s; control: commit before send`;
    return {
      checks: [
        deliveryCheck(what, verdict, controlVerdict),
        {
          what: 'shards that continued without DynamoDB; control: tailers that end without it',
          result: `${shards} of ${all}`,
          bar: `${all}`,
          passed: shards === all && isWhole(verdict),
          control: { result: `${controlShards} of ${all}`, failed: controlShards < all },
        },
      ],
      cells: verdict.due,
      notes: [`repeats after the outages: ${verdict.repeats}`],
    };
  },
};

/** Delivered cells are gone, and others take their added ids; then everything is sent again, at once. */
export const cutLogs: Part = {
  fault: 'a replica promoted without the last cells, new cells taking the old added ids; then a rewind to the start',

  async carryOut(setting) {
    // From the writers: a reader that does not receive would show no tailer what is lost.
    const readsWriter = true;
    await using real = await Scene.start(setting, {
      name: 'cut',
      promotes: true,
      tailers: [0, 1].map(() => ({ variation: { readsWriter } })),
    });
    await using control = await Scene.start(setting, {
      name: 'cut_control',
      promotes: true,
      tailers: [{ variation: { readsWriter, generationsInQueue: false, fingerprints: false } }],
    });
    await real.wait(5);
    await promoteWithoutLast(setting, real);
    await real.wait(8);
    const [verdict, controlVerdict] = await Promise.all([real.conclude(), control.conclude({ isReal: false })]);
    const nameOf = ({ shard, cell }: { readonly shard: number; readonly cell: string }): string => `${shard}/${cell}`;
    const logged = new Set((await real.logged()).map(nameOf));
    const gone = new Set(real.deliveries().map(nameOf)).difference(logged).size;
    if (gone === 0) throw new Error('no cell that had been delivered was lost');
    setting.world.say(`${gone} cells that had been delivered are gone; ${real.tailed('cuts')} logs found cut`);

    const [replays, controlReplays] = await Promise.all([real.rewindToStart(), control.rewindToStart()]);
    const foundBy = (scene: Scene) => ({ cuts: scene.tailed('cuts'), toCheckpoints: scene.tailed('toCheckpoints') });
    const found = foundBy(real);
    await Promise.all([real.end(), control.end()]);
    const controlFound = foundBy(control);
    return {
      checks: [
        deliveryCheck('a replica promoted without the last cells; control: no fingerprints', verdict, controlVerdict),
        {
          what: 'logs found cut, and those restarted from a checkpoint that still fits; control: no fingerprints',
          result: `${found.cuts}, ${found.toCheckpoints}`,
          bar: 'at least 1, all of them',
          passed: found.cuts > 0 && found.toCheckpoints === found.cuts,
          control: { result: `${controlFound.cuts}, ${controlFound.toCheckpoints}`, failed: controlFound.cuts === 0 },
        },
        deliveryCheck(
          'replays within five minutes of the first delivery; control: the generation left out of deduplication',
          replays,
          controlReplays,
          1,
        ),
      ],
      cells: verdict.due,
      notes: [`${gone} cells that had been delivered are gone`],
    };
  },
};

/** Stops replication to a group's reader; the writer continues, dies with its disk, and the reader is promoted. */
async function promoteWithoutLast({ world: { signal, say }, stage }: Setting, scene: Scene): Promise<void> {
  const { servers } = stage;
  const group = servers.groups[0]?.name ?? '';
  await stopReceiving(servers, group);
  await scene.wait(5);
  const writer = await killWithDisk(stage, group);
  await servers.promote(group);
  say(`${writer} died with its disk; its reader is promoted`);
  await untilAllRun(servers, signal);
}
