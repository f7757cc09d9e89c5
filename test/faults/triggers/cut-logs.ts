import { killWithDisk, stopReceiving, untilAllRun } from '../../support/nodes.ts';
import { deliveryCheck, deliveryFigure, isWhole, type Part, type Setting } from './part.ts';
import { Scene } from './scene.ts';

const BEFORE_SECONDS = 5;
/** Cells that the reader does not receive any more, and that are delivered. */
const LOST_SECONDS = 5;
const AFTER_SECONDS = 8;

/** Cells that were delivered are gone, and others take their added ids; then everything is sent again, at once. */
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
    await real.wait(BEFORE_SECONDS);
    await promoteWithoutLast(setting, real);
    await real.wait(AFTER_SECONDS);
    const [verdict, controlVerdict] = await Promise.all([real.conclude(), control.conclude({ isReal: false })]);
    const gone = await countGone(real);
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
          what: 'logs found cut, and those set back to a checkpoint that still fits; control: no fingerprints',
          figure: `${found.cuts}, ${found.toCheckpoints}`,
          bar: 'at least 1, all of them',
          passed: found.cuts > 0 && found.toCheckpoints === found.cuts,
          control: { figure: `${controlFound.cuts}, ${controlFound.toCheckpoints}`, failed: controlFound.cuts === 0 },
        },
        {
          what: 'replays within five minutes of the first delivery; control: the generation left out of deduplication',
          figure: deliveryFigure(replays),
          bar: '0, 0',
          passed: isWhole(replays),
          control: { figure: deliveryFigure(controlReplays), failed: !isWhole(controlReplays) },
        },
      ],
      cells: verdict.due,
      notes: [`${gone} cells that had been delivered are gone`],
    };
  },
};

/** A group's reader stops receiving; the writer goes on, dies with its disk, and the reader is promoted. */
async function promoteWithoutLast({ world: { signal, say }, stage }: Setting, scene: Scene): Promise<void> {
  const { servers } = stage;
  const group = servers.groups[0]?.name ?? '';
  await stopReceiving(servers, group);
  await scene.wait(LOST_SECONDS);
  const writer = await killWithDisk(stage, group);
  await servers.promote(group);
  say(`${writer} died with its disk; its reader is promoted`);
  await untilAllRun(servers, signal);
}

/** Delivered, and not in the logs any more. */
async function countGone(scene: Scene): Promise<number> {
  const nameOf = ({ shard, cell }: { readonly shard: number; readonly cell: string }): string => `${shard}/${cell}`;
  return new Set(scene.deliveries().map(nameOf)).difference(new Set((await scene.logged()).map(nameOf))).size;
}
