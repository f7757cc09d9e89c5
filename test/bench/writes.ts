import { randomUUID } from 'node:crypto';
import type { NewCell } from '../../shared/cell.ts';
import { shardOf } from '../../shared/address.ts';
import type { OpenStore } from '../support/store-access.ts';
import type { Bench, BenchWorld, Findings } from './bench.ts';
import { DRIVER_INDEX } from './by-hand.ts';
import { GROUPS, openNextToHand, SHARDS } from './open-next-to-hand.ts';
import { percentile } from '../support/percentile.ts';
import { readersOf } from '../support/readers-caught-up.ts';
import { tellRows } from './rows.ts';
import { warmUp } from './side-by-side.ts';
import { counted, type Sent } from '../support/counted-client.ts';
import { countCalls, type Asked } from './writes/counted-dynamo.ts';

const BATCH = 100;
const AT_ONCE = 64;
const CALLERS = 32;
const WARM_MS = 2000;
/** The length of a round with many concurrent calls. */
const ROUND_MS = 600;
const COUNTED = 50;
const CALLS_MS = 4000;

export const writesBench: Bench = {
  name: 'writes',
  what: `group commits, and the cost of a write: ${GROUPS} groups, ${SHARDS} shards`,
  limitMinutes: 5,

  async measure(world: BenchWorld): Promise<Findings> {
    const { signal } = world;
    const sent: Sent = { statements: 0, commits: 0, roundTrips: 0 };
    const asked: Asked = { calls: 0, ofTopology: 0 };
    await using alongside = await openNextToHand(world, (client) => counted(client, sent));
    const { engine, access, store, topology, hand, plain } = alongside;
    await using readers = await readersOf(access.groups);
    const { measured, add, compare } = tellRows(engine, world, { settled: () => readers.caughtUp() });
    const [one, hundred, byHandOne, plainOne] = [
      () => stored(store, [trip()]),
      () => stored(store, trips()),
      () => done(hand.put(trip())),
      () => done(plain.put(trip())),
    ];
    await warmUp([one, hundred, byHandOne, plainOne], { atOnce: 8, milliseconds: WARM_MS }, signal);

    const known = trip();
    await stored(store, [known]);
    countCalls(store.topologyTable, asked);
    for (const { what, work, cells = 1 } of [
      { what: 'a put', work: one },
      { what: `a batch of ${BATCH} rows`, work: hundred, cells: BATCH },
      { what: 'a latest read', work: () => found(store, known) },
      { what: 'a query of one row', work: () => queried(store, known) },
    ]) {
      Object.assign(sent, { statements: 0, commits: 0, roundTrips: 0 });
      Object.assign(asked, { calls: 0, ofTopology: 0 });
      for (let time = 0; time < COUNTED; time += 1) await work();
      const each = (count: number): string => (count / COUNTED / cells).toFixed(2);
      add(
        `${what}: statements, commits, round trips a cell`,
        `${each(sent.statements)}, ${each(sent.commits)}, ${each(sent.roundTrips)}`,
      );
      add(
        `${what}: DynamoDB calls, of them reads of the topology, a cell`,
        `${each(asked.calls)}, ${each(asked.ofTopology)}`,
      );
    }
    // Checks the counter: a broken one would miss these reads of the topology as well.
    store.context.topology.refresh();
    await found(store, known);
    if (asked.ofTopology === 0) throw new Error('wanted a topology that was forgotten to be read, got no read');
    const atOnce = { atOnce: AT_ONCE, roundMs: ROUND_MS };
    const singly = 'next to the same statements, each with its commit';
    await compare(`batch of ${BATCH} rows (copy, append, entry), ${singly}`, {
      bar: 4,
      ours: hundred,
      theirs: async () => (await Promise.all(trips().map((cell) => hand.put(cell)))).length,
      roundMs: ROUND_MS,
    });
    await compare(`${AT_ONCE} puts at once (copy, append, entry), ${singly}`, {
      bar: 3,
      ours: one,
      theirs: byHandOne,
      ...atOnce,
    });
    await compare(`${AT_ONCE} puts at once, next to two plain inserts each`, {
      bar: 1.5,
      ours: one,
      theirs: plainOne,
      ...atOnce,
    });

    const primary = topology.homes[0]?.group;
    const toOneGroup = (): Promise<number> =>
      stored(store, [trip((key) => topology.homes[shardOf(key, SHARDS)]?.group === primary)]);
    const alone = await latencies(toOneGroup, 1, signal);
    const many = await latencies(toOneGroup, CALLERS, signal);
    const [rate, times] = [many.rate / alone.rate, many.p99 / many.p50];
    add(
      `${CALLERS} callers to one group: rate next to that of one caller`,
      `${rate.toFixed(2)} (${many.rate.toFixed(0)}, ${alone.rate.toFixed(0)} a second)`,
      '≥ 2',
      rate >= 2,
    );
    add(
      `${CALLERS} callers to one group: p99 next to p50`,
      `${times.toFixed(1)} (${many.p99.toFixed(0)}, ${many.p50.toFixed(0)} ms)`,
      '≤ 8',
      times <= 8,
    );
    return { measured };
  },
};

/** Returns a cell of about a third of a kilobyte in a new row. */
function trip(isFit: (key: string) => boolean = () => true): NewCell {
  let row_key = randomUUID();
  while (!isFit(row_key)) row_key = randomUUID();
  const body = {
    driver_uuid: randomUUID(),
    rider_uuid: randomUUID(),
    city: 'Lisbon',
    status: 'completed',
    fare: { total: Math.round(Math.random() * 5000) / 100, currency: 'EUR' },
    note: 'x'.repeat(150),
  };
  return { row_key, column_name: 'BASE', ref_key: 1, body };
}

function trips(): NewCell[] {
  return Array.from({ length: BATCH }, () => trip());
}

async function stored({ datastore }: OpenStore, cells: readonly NewCell[]): Promise<number> {
  const [only] = cells;
  const results = cells.length === 1 && only ? [await datastore.put(only)] : await datastore.batchPut(cells);
  const other = results.find(({ outcome }) => outcome !== 'stored');
  if (other) throw new Error(`a put was answered ${other.outcome}`);
  return cells.length;
}

async function found({ datastore }: OpenStore, { row_key, column_name }: NewCell): Promise<number> {
  if ((await datastore.getLatest({ row_key, column_name })).cell === null) throw new Error('a cell was not found');
  return 1;
}

async function queried({ datastore }: OpenStore, { body }: NewCell): Promise<number> {
  const { entries } = await datastore.query({
    index: DRIVER_INDEX.name,
    where: { driver_uuid: String(Object(body).driver_uuid) },
    limit: 10,
  });
  if (entries.length !== 1) throw new Error(`wanted one entry, got ${entries.length}`);
  return 1;
}

async function done(work: Promise<void>): Promise<number> {
  await work;
  return 1;
}

async function latencies(
  work: () => Promise<number>,
  callers: number,
  signal: AbortSignal,
): Promise<{ readonly rate: number; readonly p50: number; readonly p99: number }> {
  const taken: number[] = [];
  const start = performance.now();
  const call = async (): Promise<void> => {
    while (performance.now() - start < CALLS_MS) {
      signal.throwIfAborted();
      const begun = performance.now();
      await work();
      taken.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  const rate = (taken.length / (performance.now() - start)) * 1000;
  return { rate, p50: percentile(taken, 0.5), p99: percentile(taken, 0.99) };
}
