import { UNSAFE_FLUSHING, type ClusterOptions } from '../../support/cluster.ts';
import { countsLine, type FaultRun, type RunWorld } from '../fault-run.ts';
import { aftermathNotes, lossCheck, type Aftermath } from '../aftermath.ts';
import { BATCHES_AND_REPEATS } from '../load/cell-source.ts';
import { Stage } from '../stage.ts';
import { Random } from '../../support/random.ts';
import { grouped } from '../../support/text-table.ts';
import type { Load } from '../load/start-load.ts';

const WRITERS = 32;
const GROUPS = 3;
const SHARDS = 48;
const KILLS = 8;
const CELLS = 30_000;
const CONTROL_KILLS = 3;
const CONTROL_CELLS = 6000;
const RESTART_SECONDS = 1;

export const killRun: FaultRun = {
  name: 'kill',
  promise: 'An acknowledged write is never lost',
  fault: `kill -9 of a group's writer ${KILLS} times, in turn over ${GROUPS} groups, under ${WRITERS} writers`,
  control: 'no buffer and unsafe flushing',

  async run(world) {
    const real = await killUnderLoad(world, 'kill/real', {}, KILLS, CELLS);
    world.say(`the control: ${killRun.control}`);
    const unsafe = { bufferCopies: 0, readers: 0, extraArguments: UNSAFE_FLUSHING };
    const control = await killUnderLoad(world, 'kill/control', unsafe, CONTROL_KILLS, CONTROL_CELLS);
    const { aftermath, drained } = real;
    return {
      checks: [lossCheck('acknowledged cells lost, other faults', aftermath, control.aftermath, CELLS)],
      cells: aftermath.acked,
      engine: real.engine,
      notes: [
        `buffered writes: ${drained}; none left ${aftermath.drainSeconds.toFixed(1)} s after the load`,
        ...aftermathNotes(aftermath),
        ...aftermathNotes(control.aftermath)
          .slice(0, 2)
          .map((line) => `the control's ${line}`),
      ],
    };
  },
};

async function killUnderLoad(
  world: RunWorld,
  name: string,
  setting: Partial<ClusterOptions>,
  kills: number,
  cells: number,
): Promise<{ readonly engine: string; readonly aftermath: Aftermath; readonly drained: string }> {
  const cluster = { groups: GROUPS, shards: SHARDS, restartAfterSeconds: RESTART_SECONDS, ...setting };
  await using stage = await Stage.start(world, name, cluster);
  const drain = await stage.drain();
  const load = await stage.load({ writers: WRITERS, cells: BATCHES_AND_REPEATS });
  await killInTurn(stage, load, kills, cells);
  const { written } = await load.stop();
  await stage.untilAllRun();
  const aftermath = await stage.inspect(written);
  return { engine: stage.engine, aftermath, drained: countsLine(drain.progress ?? {}) };
}

/** Before each kill, so that every server is hit in the middle of writing. */
const PAUSE_MS = [1500, 3500] as const;
/** For the cells, on a slow machine. */
const PATIENCE_MS = 600_000;

/** Kills writers under load, in turn over the groups, each once all servers are back; then waits for so many cells. */
export async function killInTurn(stage: Stage, load: Load, count: number, cells: number): Promise<void> {
  const random = new Random(stage.world.seed, 'kills', 0);
  const start = performance.now();
  const untilAcked = (wanted: number): Promise<boolean> =>
    load.untilAcked(wanted, PATIENCE_MS - (performance.now() - start));
  for (let kill = 0; kill < count; kill += 1) {
    // Spread over the whole load.
    await untilAcked((kill * cells) / (count + 1));
    await stage.wait(random.between(...PAUSE_MS));
    const node = await stage.kill(stage.groupInTurn(kill));
    stage.world.say(`kill -9 of ${node}, number ${kill + 1}, at ${grouped(load.acked)} cells`);
    await stage.untilAllRun();
  }
  await untilAcked(cells);
}
