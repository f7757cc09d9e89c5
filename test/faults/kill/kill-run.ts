import { join } from 'node:path';
import { faultsLine, inspect, lossCheck, type Aftermath } from '../aftermath.ts';
import { startCluster, UNSAFE_FLUSHING } from '../../support/cluster.ts';
import type { FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { Mix } from '../load/cell-source.ts';
import { outcomesLine } from '../load/ledger.ts';
import { startLoad } from '../load/start-load.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import type { DrainCounts } from '../../support/workers/drain-thread.ts';
import { killInTurn, untilAllRun } from './kills.ts';

const WRITERS = 32;
const GROUPS = 3;
const SHARDS = 48;
const KILLS = 8;
const CELLS = 30_000;
const CONTROL_KILLS = 3;
const CONTROL_CELLS = 6000;
const RESTART_SECONDS = 1;
/** About one cell in ten is a repeat. */
const MIX: Mix = { batchShare: 0.3, batchSize: 10, repeatShare: 0.05 };

export const killRun: FaultRun = {
  name: 'kill',
  promise: 'An acknowledged write is never lost',
  fault: `kill -9 of a group's writer ${KILLS} times, in turn over ${GROUPS} groups, under ${WRITERS} writers`,
  control: 'no buffer and unsafe flushing',

  async run(world: RunWorld): Promise<RunOutcome> {
    const real = await killUnderLoad(world, 'real', { bufferCopies: 1, readers: 1, extraArguments: [], kills: KILLS, cells: CELLS });
    world.say(`the control: ${killRun.control}`);
    const control = await killUnderLoad(world, 'control', { bufferCopies: 0, readers: 0, extraArguments: UNSAFE_FLUSHING, kills: CONTROL_KILLS, cells: CONTROL_CELLS });
    const { aftermath, drained } = real;
    return {
      checks: [lossCheck('acknowledged cells lost, other faults', aftermath, control.aftermath, CELLS)],
      cells: aftermath.acked,
      engine: real.engine,
      notes: [
        outcomesLine(aftermath.outcomes),
        `buffered writes: ${Object.entries(drained).map(([what, count]) => `${what} ${count.toLocaleString('en-US')}`).join(', ')}; none left ${aftermath.drainSeconds.toFixed(1)} s after the load`,
        faultsLine(aftermath),
        ...aftermath.wrongExamples,
        `the control's ${outcomesLine(control.aftermath.outcomes)}`,
        `the control's ${faultsLine(control.aftermath)}`,
      ],
    };
  },
};

interface Setting {
  readonly bufferCopies: number;
  readonly readers: number;
  readonly extraArguments: readonly string[];
  readonly kills: number;
  readonly cells: number;
}

interface Killed {
  readonly engine: string;
  readonly aftermath: Aftermath;
  readonly drained: DrainCounts;
}

async function killUnderLoad({ folder, engine, seed, history, signal, say }: RunWorld, part: string, setting: Setting): Promise<Killed> {
  await using cluster = await startCluster({ ...setting, folder: join(folder, part), engine, groups: GROUPS, shards: SHARDS, restartAfterSeconds: RESTART_SECONDS });
  const { access, servers } = cluster;
  using drain = startWorker<StoreAccess, 'stop', DrainCounts, DrainCounts>(new URL('../../support/workers/drain-thread.ts', import.meta.url), access);
  using load = startLoad({ target: { kind: 'store', access }, writers: WRITERS, seed, mix: MIX, run: `kill/${part}`, history });
  await Promise.all([drain.ready, load.ready]);
  await killInTurn({ servers, load, count: setting.kills, cells: setting.cells, seed, signal, say });
  const written = await load.stop();
  await untilAllRun(servers, signal);
  say(`${written.acked.length.toLocaleString('en-US')} cells acknowledged; waiting for the buffers, then reading all back`);

  await using store = await openStore(access);
  const aftermath = await inspect({ datastore: store.datastore, groups: access.groups, written, signal });
  return { engine: cluster.engine, aftermath, drained: drain.progress ?? { drained: 0, appended: 0, conflicts: 0, failed: 0 } };
}
