import { UNSAFE_FLUSHING, type ClusterOptions } from '../../support/cluster.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { aftermathNotes, lossCheck, type Aftermath } from '../aftermath.ts';
import { countsLine } from '../checks.ts';
import type { FaultRun, RunOutcome } from '../fault-run.ts';
import { BATCHES_AND_REPEATS } from '../load/cell-source.ts';
import { Stage } from '../stage.ts';
import { untilAllRun } from '../../support/nodes.ts';
import { killInTurn } from './kills.ts';

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

  async run(world: RunWorld): Promise<RunOutcome> {
    const real = await killUnderLoad(world, 'kill/real', {}, KILLS, CELLS);
    world.say(`the control: ${killRun.control}`);
    const control = await killUnderLoad(
      world,
      'kill/control',
      { bufferCopies: 0, readers: 0, extraArguments: UNSAFE_FLUSHING },
      CONTROL_KILLS,
      CONTROL_CELLS,
    );
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
  await using stage = await Stage.start(world, name, {
    groups: GROUPS,
    shards: SHARDS,
    restartAfterSeconds: RESTART_SECONDS,
    ...setting,
  });
  const drain = await stage.drain();
  const load = await stage.load({ writers: WRITERS, cells: BATCHES_AND_REPEATS });
  await killInTurn(stage, load, kills, cells);
  const { written } = await load.stop();
  await untilAllRun(stage.servers, world.signal);
  const aftermath = await stage.inspect(written);
  return { engine: stage.engine, aftermath, drained: countsLine(drain.progress ?? {}) };
}
