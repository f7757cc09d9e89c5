import { grouped } from '../fault-run.ts';
import { bothWays, deliveryCheck, LEAST_CELLS, type Part, type Setting } from './part.ts';
import { QUICK_LEASES, Scene } from './scene.ts';

const KILLS = 200;
/** Tailers are side by side: a process takes a second to start, and its shards wait until it is known to be dead. */
const REAL = { tailers: 10, kills: KILLS, cells: 1000 };
const CONTROL = { tailers: 2, kills: 12, cells: LEAST_CELLS };
const PAUSE_MS = 120;

/** A crash between the two sends again, never skips. */
export const killedTailers: Part = {
  fault: `tailers killed between send and commit, ${KILLS} times`,

  async carryOut(setting) {
    const [real, control] = await bothWays('killed', (name, isReal) => killAll(setting, name, isReal));
    const what = `tailers killed between send and commit, ${real.kills} times; control: commit before send`;
    return {
      checks: [deliveryCheck(what, real.verdict, control.verdict, REAL.cells)],
      cells: real.verdict.due,
      notes: [
        `sent again after kills: ${grouped(real.sentAgain)} of ${grouped(real.sent)} messages; the queue let ${real.verdict.repeats} of them pass; control: ${control.kills} kills`,
      ],
    };
  },
};

/** @param isReal off: the offset is committed first, and the tailer is killed between the two all the same */
async function killAll(setting: Setting, name: string, isReal: boolean) {
  const { tailers, kills, cells } = isReal ? REAL : CONTROL;
  let [doomed, killed] = [0, 0];
  const isDoomed = Array.from({ length: tailers }, () => false);
  await using scene = await Scene.start(setting, {
    name,
    pauseMs: PAUSE_MS,
    tailers: isDoomed.map((_, position) => (life: number) => {
      // Each life is to die, until there are enough of them.
      isDoomed[position] = doomed < kills;
      if (isDoomed[position]) doomed += 1;
      const dies = isReal ? 'after_send' : 'before_send';
      return {
        heartbeat: QUICK_LEASES,
        // One that held none would send nothing, and never die.
        partitions: setting.stage.shards,
        variation: { waitsForQueue: isReal, ...(isDoomed[position] ? { dies, atSend: 1 + (life % 3) } : {}) },
      };
    }),
  });
  await Promise.all(
    scene.tailers.map(async (tailer, position) => {
      while (isDoomed[position]) {
        await tailer.untilDead();
        killed += 1;
        if (killed % 50 === 0) setting.world.say(`${killed} tailers killed, ${grouped(scene.stored)} cells`);
        await tailer.start();
      }
    }),
  );
  await scene.load(0, cells);
  const verdict = await scene.conclude({ isReal });
  await scene.end();
  const { sent, again } = scene.sends();
  return { verdict, kills: killed, sent, sentAgain: again };
}
