import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Check } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { stopReceiving, untilAllRun } from '../../support/nodes.ts';
import { deliveryFigure, isWhole, type DeliveryVerdict } from './judge-deliveries.ts';
import { CONTROL_PATIENCE_MS, deliveryCheck, type Part } from './part.ts';
import { rewindToStart } from './rewind-to-start.ts';
import { Scene } from './scene.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';

const BEFORE_SECONDS = 5;
/** Cells that the reader does not receive any more, and that are delivered. */
const LOST_SECONDS = 5;
const AFTER_SECONDS = 8;

/** Cells that were delivered are gone, and others take their added ids; then everything is sent again, at once. */
export const cutLogs: Part = {
  fault: 'a replica promoted without the last cells, new cells taking the old added ids; then a rewind to the start',

  async carryOut(world, stage) {
    // From the writers: a reader that does not receive would show no tailer what is lost.
    await using real = await Scene.start(world, stage, {
      name: 'cut',
      promotes: true,
      tailers: [0, 1].map(() => ({ variation: { readsWriter: true } })),
    });
    await using control = await Scene.start(world, stage, {
      name: 'cut_control',
      promotes: true,
      tailers: [{ variation: { readsWriter: true, generationsInQueue: false, fingerprints: false } }],
    });
    await real.wait(BEFORE_SECONDS);
    await promoteWithoutLast(world, stage, real);
    await real.wait(AFTER_SECONDS);
    await Promise.all([real, control].map((scene) => scene.stopWriters()));
    const [verdict, controlVerdict] = await Promise.all([
      real.settle(),
      control.settle({ patienceMs: CONTROL_PATIENCE_MS }),
    ]);
    const gone = await countGone(real);
    if (gone === 0) throw new Error('no cell that had been delivered was lost');
    world.say(`${gone} cells that had been delivered are gone; ${real.tailed('cuts')} logs found cut`);

    const [replays, controlReplays] = await Promise.all([rewindToStart(real), rewindToStart(control)]);
    const found = { cuts: real.tailed('cuts'), toCheckpoints: real.tailed('toCheckpoints') };
    await Promise.all([real.end(), control.end()]);
    return {
      checks: [
        deliveryCheck('a replica promoted without the last cells; control: no fingerprints', verdict, controlVerdict),
        {
          what: 'logs found cut, and those set back to a checkpoint that still fits; control: no fingerprints',
          figure: `${found.cuts}, ${found.toCheckpoints}`,
          bar: 'at least 1, all of them',
          passed: found.cuts > 0 && found.toCheckpoints === found.cuts,
          control: {
            figure: `${control.tailed('cuts')}, ${control.tailed('toCheckpoints')}`,
            failed: control.tailed('cuts') === 0,
          },
        },
        replayCheck(replays, controlReplays),
      ],
      cells: verdict.due,
      notes: [`${gone} cells that had been delivered are gone`],
    };
  },
};

/** A group's reader stops receiving; the writer goes on, dies with its disk, and the reader is promoted. */
async function promoteWithoutLast(
  { signal, say }: RunWorld,
  { servers, folder }: TriggerStage,
  scene: Scene,
): Promise<void> {
  const [group] = servers.groups;
  const writer = group?.nodes.find(({ role }) => role === 'writer');
  if (!group || !writer) throw new Error('no writer');
  await stopReceiving(servers, group.name);
  await scene.wait(LOST_SECONDS);
  await servers.kill(writer.node);
  rmSync(join(folder, 'servers', 'groups', writer.node, 'data'), { recursive: true });
  await servers.promote(group.name);
  say(`${writer.node} died with its disk; its reader is promoted`);
  await untilAllRun(servers, signal);
}

/** Delivered, and not in the logs any more. */
async function countGone(scene: Scene): Promise<number> {
  const there = new Set((await scene.logged()).map(({ shard, cell }) => `${shard}/${cell}`));
  return new Set(
    scene
      .deliveries()
      .map(({ shard, cell }) => `${shard}/${cell}`)
      .filter((cell) => !there.has(cell)),
  ).size;
}

function replayCheck(real: DeliveryVerdict, control: DeliveryVerdict): Check {
  return {
    what: 'replays within five minutes of the first delivery; control: the generation left out of deduplication',
    figure: deliveryFigure(real),
    bar: '0, 0',
    passed: isWhole(real),
    control: { figure: deliveryFigure(control), failed: !isWhole(control) },
  };
}
