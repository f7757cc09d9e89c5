import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../support/random.ts';
import { faultsLine, lossCheck } from '../aftermath.ts';
import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { Mix } from '../load/cell-source.ts';
import { outcomesLine } from '../load/ledger.ts';
import { startLoad } from '../load/start-load.ts';
import { inspectLosses, type LostAftermath } from '../lost-disk/inspect-losses.ts';
import { loseDisk } from '../lost-disk/lose-disk.ts';
import { shardsOf } from '../outage/group-shards.ts';
import { startStage } from '../../support/indexed/stage.ts';
import { untilBuffersEmpty } from '../buffers.ts';
import { DATASTORE, openStore, PATIENT, type OpenStore, type StoreAccess } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { refuseAppends, takeAppends } from './refusing-tables.ts';
import { lostAddresses, takeAddresses, type Taken } from './take-addresses.ts';

const GROUPS = ['group-1', 'group-2', 'group-3'];
const [LOSING] = GROUPS as [string, ...string[]];
const SHARDS = 24;
const WRITERS = 8;
const CELLS = 2000;
/** Lost cells whose addresses are tried: so many at least. */
const ADDRESSES = 50;
const LAG_MS = 6000;
const REFUSED_MS = 30_000;
/** Longer than the longest pause of the drain before it tries a shard again. */
const AFTERWARDS_MS = 35_000;
const EMPTY_PATIENCE_MS = 120_000;
const MIX: Mix = { batchShare: 0, batchSize: 1, repeatShare: 0 };

export const refusedRun: FaultRun = {
  name: 'refused',
  promise: 'An acknowledged write is never lost, also when the new writer refuses what has to be brought back',
  fault: `a writer dies with its disk under ${WRITERS} writers; the reader that is promoted lacks the last ${LAG_MS / 1000} s and refuses every append for ${REFUSED_MS / 1000} s, while others write to the addresses that it lost`,
  control: 'shards that take appends though nothing was brought back',

  async run(world: RunWorld): Promise<RunOutcome> {
    const real = await refuseUnderLoad(world, 'real', new URL('../../support/workers/drain-thread.ts', import.meta.url));
    world.say(`the control: ${refusedRun.control}`);
    const control = await refuseUnderLoad(world, 'control', new URL('unfenced-drain.ts', import.meta.url));
    const { aftermath } = real;
    return {
      checks: [lossCheck('acknowledged cells lost, other faults', aftermath, control.aftermath, CELLS), takenCheck(real.taken, control.taken)],
      cells: aftermath.acked,
      engine: real.engine,
      notes: [
        outcomesLine(aftermath.outcomes),
        `${count(real.again)} acknowledged cells were appended again, behind the cut; ${count(real.taken.tries)} other bodies were sent to addresses of lost cells; buffers empty ${aftermath.drainSeconds.toFixed(1)} s after the load`,
        faultsLine(aftermath),
        ...aftermath.wrongExamples,
        `with open shards: ${faultsLine(control.aftermath)}`,
      ],
    };
  },
};

function takenCheck(real: Taken, control: Taken): Check {
  const figureOf = ({ stored, addresses }: Taken): string => `${count(stored)} at ${count(addresses)} addresses`;
  return {
    what: 'other bodies stored at addresses of acknowledged cells',
    figure: figureOf(real),
    bar: `0 at ${ADDRESSES} at least`,
    passed: real.stored === 0 && real.addresses >= ADDRESSES,
    control: { figure: figureOf(control), failed: control.stored > 0 },
  };
}

interface Refused extends LostAftermath {
  readonly engine: string;
  readonly taken: Taken;
}

async function refuseUnderLoad({ folder, engine, seed, history, signal, say }: RunWorld, part: string, drainThread: URL): Promise<Refused> {
  await using stage = await startStage({ folder: join(folder, part), engine, groups: GROUPS.length, readers: 1, shards: SHARDS, bufferCopies: 1, promotes: true });
  const access: StoreAccess = await stage.define(DATASTORE, []);
  const startDrain = () => startWorker<StoreAccess, 'stop', unknown, unknown>(drainThread, access);
  using before = startDrain();
  await before.ready;
  await using store = await openStore({ ...access, sql: PATIENT });
  const shards = await shardsOf(store.datastore, LOSING);
  using load = startLoad({ target: { kind: 'store', access }, writers: WRITERS, seed: `${seed} ${part}`, mix: MIX, run: `refused/${part}`, history });
  await load.ready;
  const random = new Random(seed, `refused ${part}`, 0);
  // Nobody opens the new writer's shards before it refuses: the drain is started again then.
  before[Symbol.dispose]();
  const loss = await loseDisk({ stage, groups: access.groups, group: LOSING, random, lagMs: LAG_MS, signal, say, promoted: () => refuseAppends(access.groups, LOSING, shards) });
  using after = startDrain();
  await after.ready;

  const addresses = await lostAddresses(access.groups, store, shards);
  const end = new AbortController();
  const taking = takeAddresses(store, addresses, end.signal);
  await sleep(REFUSED_MS, undefined, { signal });
  await takeAppends(access.groups, LOSING, shards);
  say(`${LOSING} takes appends again; ${addresses.length} addresses of lost cells are written to by others`);
  await sleep(AFTERWARDS_MS, undefined, { signal });
  end.abort();
  const taken = await taking;
  const written = await load.stop();
  say(`${count(written.acked.length)} cells acknowledged; waiting for the buffers, then reading all back`);
  await untilBuffersEmpty(store.datastore, EMPTY_PATIENCE_MS, signal);
  await discardTaken(store);
  return { engine: stage.engine, taken, ...(await inspectLosses({ access, written, losses: [loss], signal })) };
}

/** The bodies that rightly lost against those that were acknowledged. */
async function discardTaken({ datastore }: OpenStore): Promise<void> {
  for (;;) {
    const { conflicts } = await datastore.bufferConflicts({ limit: 1000 });
    const own = conflicts.filter(({ body }) => body === 'taken');
    if (own.length === 0) return;
    await datastore.discardConflicts(own.map(({ id }) => id));
  }
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
