import { Random } from '../../support/random.ts';
import type { OpenStore, StoreAccess } from '../../support/store-access.ts';
import { aftermathNotes, faultsLine, lossCheck, untilBuffersEmpty } from '../aftermath.ts';
import { check, grouped } from '../fault-run.ts';
import { NEW_CELLS } from '../load/cell-source.ts';
import { shardsOf } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { inspectLosses, loseDisk } from './lose-disk.ts';
import { lostAddresses, refuseAppends, takeAddresses, takeAppends } from './take-addresses.ts';

const LOSING = 'group-1';
const WRITERS = 8;
const CELLS = 2000;
/** Lost cells whose addresses are tried: so many at least. */
const ADDRESSES = 50;
const LAG_MS = 6000;
const REFUSED_MS = 30_000;
/** Longer than the longest pause of the drain before it tries a shard again. */
const AFTERWARDS_MS = 35_000;
const EMPTY_PATIENCE_MS = 120_000;

export const refusedRun = stagedRun({
  name: 'refused',
  promise: 'An acknowledged write is never lost, also when the new writer refuses what has to be brought back',
  fault: `a writer dies with its disk under ${WRITERS} writers; the reader that is promoted lacks the last ${LAG_MS / 1000} s and refuses every append for ${REFUSED_MS / 1000} s, while others write to the addresses that it lost`,
  control: 'shards that take appends though nothing was brought back',
  servers: { shards: 24, promotes: true },
  controlServers: {},
  real: (stage) => refuseUnderLoad(stage, stage.access),
  without: (stage) => refuseUnderLoad(stage, stage.without('fence')),
  judge: (real, control) => ({
    checks: [
      lossCheck('acknowledged cells lost, other faults', real.aftermath, control.aftermath, CELLS),
      check(
        {
          what: 'other bodies stored at addresses of acknowledged cells',
          bar: `0 at ${ADDRESSES} at least`,
          figure: ({ stored, addresses }) => `${grouped(stored)} at ${grouped(addresses)} addresses`,
          holds: ({ stored, addresses }) => stored === 0 && addresses >= ADDRESSES,
          fails: ({ stored }) => stored > 0,
        },
        real.taken,
        control.taken,
      ),
    ],
    cells: real.aftermath.acked,
    notes: [
      `${grouped(real.again)} acknowledged cells were appended again, behind the cut; ${grouped(real.taken.tries)} other bodies were sent to addresses of lost cells; buffers empty ${real.aftermath.drainSeconds.toFixed(1)} s after the load`,
      ...aftermathNotes(real.aftermath),
      `with open shards: ${faultsLine(control.aftermath)}`,
    ],
  }),
});

/** @param access the drain's */
async function refuseUnderLoad(stage: Stage, access: StoreAccess) {
  const { groups } = stage.access;
  const { seed, signal } = stage.world;
  const before = await stage.drain({ access });
  const store = await stage.open();
  const shards = await shardsOf(store.datastore, LOSING);
  const load = await stage.load({ writers: WRITERS, cells: NEW_CELLS });
  // No drain opens the new writer's shards before it refuses: the drain is started again then.
  before[Symbol.dispose]();
  const loss = await loseDisk(stage, {
    group: LOSING,
    random: new Random(seed, stage.name, 0),
    lagMs: LAG_MS,
    promoted: () => refuseAppends(groups, LOSING, shards),
  });
  await stage.drain({ access });
  const addresses = await lostAddresses(groups, store, shards);
  const end = new AbortController();
  const taking = takeAddresses(store, addresses, end.signal);
  await stage.wait(REFUSED_MS);
  await takeAppends(groups, LOSING, shards);
  stage.say(`${LOSING} takes appends again; ${addresses.length} addresses of lost cells are written to by others`);
  await stage.wait(AFTERWARDS_MS);
  end.abort();
  const taken = await taking;
  const { written } = await load.stop();
  await untilBuffersEmpty(store.datastore, EMPTY_PATIENCE_MS, signal);
  await discardTaken(store);
  return { taken, ...(await inspectLosses(stage, written, [loss])) };
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
