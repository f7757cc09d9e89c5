import { setTimeout as sleep } from 'node:timers/promises';
import { rowKeyOf, shardDatabase } from '../../../shared/address.ts';
import type { CellAddress } from '../../../shared/cell.ts';
import { toBytes, toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import { withClient } from '../../support/past-the-store.ts';
import { Random } from '../../support/random.ts';
import { DATASTORE, type GroupAccess, type OpenStore, type StoreAccess } from '../../support/store-access.ts';
import { lossCheck, untilBuffersEmpty } from '../aftermath.ts';
import { check, grouped } from '../fault-run.ts';
import { NEW_CELLS } from '../load/cell-source.ts';
import { openBufferTables } from '../outages/buffer-tables.ts';
import { shardsOf } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { addressOf } from '../stored-cells.ts';
import { inspectLosses, loseDisk } from './lose-disk.ts';

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
    notes: [
      `${grouped(real.again)} acknowledged cells were appended again, behind the cut; ${grouped(real.taken.tries)} other bodies were sent to addresses of lost cells; buffers empty ${real.aftermath.drainSeconds.toFixed(1)} s after the load`,
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

async function discardTaken({ datastore }: OpenStore): Promise<void> {
  for (;;) {
    const { conflicts } = await datastore.listBufferConflicts({ limit: 1000 });
    const own = conflicts.filter(({ body }) => body === 'taken');
    if (own.length === 0) return;
    await datastore.discardBufferConflicts({ ids: own.map(({ id }) => id) });
  }
}

const MOST_ADDRESSES = 200;
const SIDE_BY_SIDE = 4;
const PAUSE_MS = 20;

/** Longer than a write takes: whoever was under way has been answered by then. */
const UNDER_WAY_MS = 5000;

/** Addresses answered `stored` that the new writer lacks, without those about to be answered `buffered`. */
async function lostAddresses(
  groups: readonly GroupAccess[],
  store: OpenStore,
  shards: ReadonlySet<number>,
): Promise<readonly CellAddress[]> {
  const first = new Set((await unansweredAddresses(groups, store, shards)).map(addressOf));
  await sleep(UNDER_WAY_MS);
  return (await unansweredAddresses(groups, store, shards)).filter((address) => first.has(addressOf(address)));
}

async function unansweredAddresses(
  groups: readonly GroupAccess[],
  store: OpenStore,
  shards: ReadonlySet<number>,
): Promise<readonly CellAddress[]> {
  await using tables = openBufferTables(groups);
  const list = [...shards].join(', ');
  const sql = `SELECT row_key, column_name, ref_key FROM \`schemaless\`.buffer WHERE datastore = ? AND shard IN (${list}) AND OCTET_LENGTH(answered) < OCTET_LENGTH(writers) ORDER BY id DESC LIMIT 2000`;
  const addresses = (await tables.rows(sql, [DATASTORE])).map(([rowKey, name, ref]): CellAddress => ({
    row_key: rowKeyOf(toBytes(rowKey)),
    column_name: toText(name),
    ref_key: toNumber(ref),
  }));
  const lost: CellAddress[] = [];
  for (let start = 0; start < addresses.length && lost.length < MOST_ADDRESSES; start += 100) {
    const some = addresses.slice(start, start + 100);
    const found = await store.datastore.batchGet(some);
    lost.push(...some.filter((_, position) => found[position] === null));
  }
  return lost.slice(0, MOST_ADDRESSES);
}

async function takeAddresses({ datastore }: OpenStore, addresses: readonly CellAddress[], end: AbortSignal) {
  let [tries, stored, next] = [0, 0, 0];
  await Promise.all(
    Array.from({ length: SIDE_BY_SIDE }, async () => {
      while (!end.aborted && addresses.length > 0) {
        const address = addresses[next++ % addresses.length] as CellAddress;
        const { outcome } = await datastore.put({ ...address, body: 'taken' });
        tries += 1;
        if (outcome === 'stored') stored += 1;
        await sleep(PAUSE_MS);
      }
    }),
  );
  return { addresses: addresses.length, tries, stored };
}

/** Lets a writer refuse each append to some shards with error 1644, as one whose tablespace is full does. */
async function refuseAppends(groups: readonly GroupAccess[], group: string, shards: Iterable<number>): Promise<void> {
  const sqlOf = (database: string): string =>
    `CREATE TRIGGER ${database}.refuses BEFORE INSERT ON ${database}.entity FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'`;
  await onDatabases(groups, group, shards, sqlOf);
}

async function takeAppends(groups: readonly GroupAccess[], group: string, shards: Iterable<number>): Promise<void> {
  await onDatabases(groups, group, shards, (database) => `DROP TRIGGER IF EXISTS ${database}.refuses`);
}

async function onDatabases(
  groups: readonly GroupAccess[],
  group: string,
  shards: Iterable<number>,
  sqlOf: (database: string) => string,
): Promise<void> {
  await withClient(groups, group, async (client) => {
    for (const shard of shards) await client.change({ sql: sqlOf(shardDatabase(DATASTORE, shard)), parameters: [] });
  });
}
