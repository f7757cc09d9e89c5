import { Random } from '../../support/random.ts';
import { check, grouped, type Check, type FaultRun, type RunWorld } from '../fault-run.ts';
import type { OpenStore } from '../../support/store-access.ts';
import type { Drain } from '../../support/workers/start-drain.ts';
import { aftermathNotes, faultsLine, lossCheck, untilBuffersEmpty } from '../aftermath.ts';
import { NEW_CELLS } from '../load/cell-source.ts';
import { inspectLosses, type LostAftermath } from '../lost-disk/inspect-losses.ts';
import { loseDisk } from '../lost-disk/lose-disk.ts';
import { shardsOf } from '../row-keys.ts';
import { Stage } from '../stage.ts';
import { lostAddresses, refuseAppends, takeAddresses, takeAppends, type Taken } from './take-addresses.ts';

const LOSING = 'group-1';
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

export const refusedRun: FaultRun = {
  name: 'refused',
  promise: 'An acknowledged write is never lost, also when the new writer refuses what has to be brought back',
  fault: `a writer dies with its disk under ${WRITERS} writers; the reader that is promoted lacks the last ${LAG_MS / 1000} s and refuses every append for ${REFUSED_MS / 1000} s, while others write to the addresses that it lost`,
  control: 'shards that take appends though nothing was brought back',

  async run(world) {
    const real = await refuseUnderLoad(world, 'refused/real');
    world.say(`the control: ${refusedRun.control}`);
    const control = await refuseUnderLoad(world, 'refused/control', new URL('unfenced-drain.ts', import.meta.url));
    const { aftermath } = real;
    return {
      checks: [
        lossCheck('acknowledged cells lost, other faults', aftermath, control.aftermath, CELLS),
        takenCheck(real.taken, control.taken),
      ],
      cells: aftermath.acked,
      engine: real.engine,
      notes: [
        `${grouped(real.again)} acknowledged cells were appended again, behind the cut; ${grouped(real.taken.tries)} other bodies were sent to addresses of lost cells; buffers empty ${aftermath.drainSeconds.toFixed(1)} s after the load`,
        ...aftermathNotes(aftermath),
        `with open shards: ${faultsLine(control.aftermath)}`,
      ],
    };
  },
};

function takenCheck(real: Taken, control: Taken): Check {
  return check(
    {
      what: 'other bodies stored at addresses of acknowledged cells',
      bar: `0 at ${ADDRESSES} at least`,
      figure: ({ stored, addresses }) => `${grouped(stored)} at ${grouped(addresses)} addresses`,
      holds: ({ stored, addresses }) => stored === 0 && addresses >= ADDRESSES,
      fails: ({ stored }) => stored > 0,
    },
    real,
    control,
  );
}

interface Refused extends LostAftermath {
  readonly engine: string;
  readonly taken: Taken;
}

/** @param wrap stands between the drain and the groups @default nothing does */
async function refuseUnderLoad(world: RunWorld, name: string, wrap?: URL): Promise<Refused> {
  const { seed, signal, say } = world;
  await using stage = await Stage.start(world, name, { shards: SHARDS, promotes: true });
  const { groups } = stage.access;
  const drain = (): Promise<Drain> => stage.drain(wrap && { access: stage.through(wrap) });
  const before = await drain();
  const store = await stage.open();
  const shards = await shardsOf(store.datastore, LOSING);
  const load = await stage.load({ writers: WRITERS, cells: NEW_CELLS });
  // Nobody opens the new writer's shards before it refuses: the drain is started again then.
  before[Symbol.dispose]();
  const loss = await loseDisk(stage, {
    group: LOSING,
    random: new Random(seed, name, 0),
    lagMs: LAG_MS,
    promoted: () => refuseAppends(groups, LOSING, shards),
  });
  await drain();
  const addresses = await lostAddresses(groups, store, shards);
  const end = new AbortController();
  const taking = takeAddresses(store, addresses, end.signal);
  await stage.wait(REFUSED_MS);
  await takeAppends(groups, LOSING, shards);
  say(`${LOSING} takes appends again; ${addresses.length} addresses of lost cells are written to by others`);
  await stage.wait(AFTERWARDS_MS);
  end.abort();
  const taken = await taking;
  const { written } = await load.stop();
  await untilBuffersEmpty(store.datastore, EMPTY_PATIENCE_MS, signal);
  await discardTaken(store);
  return { engine: stage.engine, taken, ...(await inspectLosses(stage, written, [loss])) };
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
