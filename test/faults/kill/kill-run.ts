import { join } from 'node:path';
import { startCluster, UNSAFE_FLUSHING } from '../cluster.ts';
import { untilBuffersEmpty, type BufferRest } from '../buffers.ts';
import type { Check, FaultRun, RunOutcome, RunWorld } from '../fault-run.ts';
import type { Mix } from '../load/cell-source.ts';
import { outcomesLine, type Written } from '../load/ledger.ts';
import { startLoad } from '../load/start-load.ts';
import { countUnreadable } from '../read-back.ts';
import { openStore, type StoreAccess } from '../store-access.ts';
import { compareKept, holesIn, storedLogs, type Kept } from '../stored-logs.ts';
import { startWorker } from '../workers/running-worker.ts';
import type { DrainCounts } from './drain-thread.ts';
import { killInTurn, untilAllRun } from './kills.ts';

const WRITERS = 32;
const GROUPS = 3;
const SHARDS = 48;
const KILLS = 8;
const CELLS = 30_000;
const CONTROL_KILLS = 3;
const CONTROL_CELLS = 6000;
const RESTART_SECONDS = 1;
const EMPTY_PATIENCE_MS = 120_000;
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
    return {
      checks: checks(real, control),
      cells: real.written.acked.length,
      engine: real.engine,
      notes: [
        outcomesLine(real.written.outcomes),
        `buffer: ${Object.entries(real.drained).map(([what, count]) => `${what} ${count.toLocaleString('en-US')}`).join(', ')}; empty ${real.rest.seconds.toFixed(1)} s after the load`,
        `the control's ${outcomesLine(control.written.outcomes)}`,
        ...real.written.wrongExamples,
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

interface Aftermath {
  readonly engine: string;
  readonly written: Written;
  readonly drained: DrainCounts;
  readonly rest: BufferRest;
  /** Acknowledged cells that a client cannot read, or not as they were written. */
  readonly unreadable: number;
  readonly kept: Kept;
  readonly holes: number;
}

async function killUnderLoad({ folder, engine, seed, history, signal, say }: RunWorld, part: string, setting: Setting): Promise<Aftermath> {
  await using cluster = await startCluster({ ...setting, folder: join(folder, part), engine, groups: GROUPS, shards: SHARDS, restartAfterSeconds: RESTART_SECONDS });
  const { access, servers } = cluster;
  using drain = startWorker<StoreAccess, 'stop', DrainCounts, DrainCounts>(new URL('drain-thread.ts', import.meta.url), access);
  using load = startLoad({ target: { kind: 'store', access }, writers: WRITERS, seed, mix: MIX, run: `kill/${part}`, history });
  await Promise.all([drain.ready, load.ready]);
  await killInTurn({ servers, load, count: setting.kills, cells: setting.cells, seed, signal, say });
  const written = await load.stop();
  await untilAllRun(servers, signal);
  say(`${written.acked.length.toLocaleString('en-US')} cells acknowledged; waiting for the buffers, then reading all back`);

  await using store = await openStore(access);
  const rest = await untilBuffersEmpty(store.datastore, EMPTY_PATIENCE_MS, signal);
  const unreadable = await countUnreadable(store.datastore, written.acked);
  const logs = await storedLogs(access.groups);
  const drained = drain.progress ?? { drained: 0, appended: 0, conflicts: 0, failed: 0 };
  return { engine: cluster.engine, written, drained, rest, unreadable, kept: compareKept(written.acked, logs), holes: holesIn(logs) };
}

function checks(real: Aftermath, control: Aftermath): readonly Check[] {
  const { kept, rest, written, holes, unreadable } = real;
  const acked = written.acked.length;
  const lost = Math.max(kept.lost, unreadable);
  const controlLost = control.kept.lost;
  return [
    {
      what: 'acknowledged cells lost',
      figure: `${lost} of ${acked.toLocaleString('en-US')}`,
      bar: `0 of at least ${CELLS.toLocaleString('en-US')}`,
      passed: lost === 0 && acked >= CELLS,
      control: { figure: `${controlLost.toLocaleString('en-US')} of ${control.written.acked.length.toLocaleString('en-US')}`, failed: controlLost > 0 },
    },
    {
      what: 'cells moved, doubled; ids missing; wrong answers; left in the buffer',
      figure: `${kept.moved}, ${kept.doubled}; ${holes}; ${written.wrong}; ${rest.rows + rest.parked + rest.conflicts}`,
      bar: '0, 0; 0; 0; 0',
      passed: kept.moved + kept.doubled + holes + written.wrong + rest.rows + rest.parked + rest.conflicts === 0,
      // What the servers forgot, they number anew: answers of before and after contradict each other.
      control: { figure: `${controlLost + control.kept.moved} not where they were`, failed: controlLost + control.kept.moved > 0 },
    },
  ];
}
