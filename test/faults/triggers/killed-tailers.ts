import type { RunWorld } from '../../support/run-world.ts';
import { CONTROL_PATIENCE_MS, deliveryCheck, LEAST_CELLS, type Part } from './part.ts';
import { QUICK_LEASES, Scene } from './scene.ts';
import type { TriggerStage } from '../../support/triggers/trigger-stage.ts';

const KILLS = 200;
const CELLS = 1000;
const CONTROL_KILLS = 12;
/** Side by side: a process takes a second to start, and its shards wait until it is known to be dead. */
const TAILERS = 10;
const CONTROL_TAILERS = 2;
const PAUSE_MS = 120;

/** A crash between the two sends again, never skips. */
export const killedTailers: Part = {
  fault: `tailers killed between send and commit, ${KILLS} times`,

  async carryOut(world, stage) {
    const [real, control] = await Promise.all([
      killAll(world, stage, { name: 'killed', tailers: TAILERS, kills: KILLS, cells: CELLS, waitsForQueue: true }),
      killAll(world, stage, {
        name: 'killed_control',
        tailers: CONTROL_TAILERS,
        kills: CONTROL_KILLS,
        cells: LEAST_CELLS,
        waitsForQueue: false,
      }),
    ]);
    return {
      checks: [
        deliveryCheck(
          `tailers killed between send and commit, ${real.kills} times; control: commit before send`,
          real.verdict,
          control.verdict,
          CELLS,
        ),
      ],
      cells: real.verdict.due,
      notes: [
        `sent again after kills: ${real.sentAgain.toLocaleString('en-US')} of ${real.sent.toLocaleString('en-US')} messages; the queue let ${real.verdict.repeats} of them pass; control: ${control.kills} kills`,
      ],
    };
  },
};

interface Killing {
  readonly name: string;
  readonly tailers: number;
  readonly kills: number;
  /** At least so many. */
  readonly cells: number;
  /** Off: the offset is committed first, and the tailer is killed between the two all the same. */
  readonly waitsForQueue: boolean;
}

async function killAll(world: RunWorld, stage: TriggerStage, { name, tailers, kills, cells, waitsForQueue }: Killing) {
  let [doomed, killed] = [0, 0];
  const isDoomed = Array.from({ length: tailers }, () => false);
  await using scene = await Scene.start(world, stage, {
    name,
    pauseMs: PAUSE_MS,
    tailers: isDoomed.map((_, place) => (life: number) => {
      // Each life is to die, until there are enough of them.
      isDoomed[place] = doomed < kills;
      if (isDoomed[place]) doomed += 1;
      const dies = waitsForQueue ? 'after_send' : 'before_send';
      return {
        heartbeat: QUICK_LEASES,
        // One that held none would send nothing, and never die.
        partitions: stage.shards,
        variation: { waitsForQueue, ...(isDoomed[place] ? { dies, atSend: 1 + (life % 3) } : {}) },
      };
    }),
  });
  await Promise.all(
    scene.tailers.map(async (tailer, place) => {
      while (isDoomed[place]) {
        await tailer.untilDead();
        killed += 1;
        if (killed % 50 === 0) world.say(`${killed} tailers killed, ${scene.stored.toLocaleString('en-US')} cells`);
        await tailer.start();
      }
    }),
  );
  await scene.load(0, cells);
  await scene.stopWriters();
  const verdict = await scene.settle(waitsForQueue ? {} : { patienceMs: CONTROL_PATIENCE_MS });
  await scene.end();
  const { sent, again } = scene.sends();
  return { verdict, kills: killed, sent, sentAgain: again };
}
