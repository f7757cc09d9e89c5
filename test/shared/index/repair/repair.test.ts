import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readState, updateState } from '../../../../shared/dynamo/state-table.ts';
import { faults } from '../../../support/faulty-client.ts';
import { rowsOfShard } from '../../../support/datastore-conformance.ts';
import { until } from '../../../support/until.ts';
import { noEntries, noTombstones, unreliableEntries } from './support/entry-writes.ts';
import { changeable, countKinds, sharedIndexed } from './support/indexed-store.ts';
import { shardOfValue } from '../../../../shared/definitions/field-value.ts';
import { pendingMarks } from '../../../../shared/index/repair/pending-marks.ts';
import { watchPending } from '../../../../shared/index/repair/catch-up.ts';
import type { RepairWork } from '../../../../shared/index/repair/repair-work.ts';
import { dynamoTopology } from '../../../../shared/topology/dynamo-topology.ts';
import { openMover } from '../../moves/support.ts';

const SHARDS = 6;
const NONE = { missing: 0, extra: 0, wrong: 0 };
const faulty = faults();
const { between, wrap } = changeable();
const indexed = await sharedIndexed(SHARDS, (client, group) => wrap(faulty.wrap(client, group), group));

const clean = () => until('no problems', async () => (await indexed.problems()).length === 0);

async function race(writers: number, versions: number): Promise<void> {
  const drivers = Array.from({ length: 4 }, () => randomUUID());
  const rows = Array.from({ length: 8 }, () => randomUUID());
  let ref_key = 0;
  const any = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T;
  await Promise.all(
    Array.from({ length: writers }, async () => {
      for (let version = 0; version < versions; version += 1) {
        const body = Math.random() < 0.1 ? {} : { driver: any(drivers), city: `city ${ref_key}` };
        await indexed.write([{ row_key: any(rows), ref_key: (ref_key += 1), body }]);
      }
    }),
  );
}

describe('the repair', () => {
  it('writes the entries that writes could not, and only those', async () => {
    const drivers = Array.from({ length: 3 }, () => randomUUID());
    const trips = (count: number) =>
      Array.from({ length: count }, (_, position) => ({
        row_key: randomUUID(),
        body: { driver: drivers[position % 3] ?? '', city: 'Porto' },
      }));
    await indexed.write(trips(30));
    between.now = noEntries;
    await indexed.write(trips(60));
    between.now = (client) => client;
    expect(countKinds(await indexed.problems()), 'with the repair off').toEqual({ ...NONE, missing: 60 });
    const run = indexed.repair();
    await clean();
    await run.stop();
    expect(run.events.filter(({ kind }) => kind === 'failed')).toEqual([]);
    expect(run.events.reduce((sum, event) => sum + (event.kind === 'repaired' ? event.entries : 0), 0)).toBe(60);
  });

  it('goes on while a group is down, and gives it its entries once it is back', async () => {
    const { groupOf } = indexed;
    const driverIn = (group: string, is: boolean): string => {
      for (;;) {
        const driver = randomUUID();
        if ((groupOf(shardOfValue(driver, 'UUID', SHARDS)) === group) === is) return driver;
      }
    };
    const rows = Array.from({ length: SHARDS }, (_, shard) => shard)
      .filter((shard) => groupOf(shard) !== 'group-2')
      .flatMap((shard) => rowsOfShard(shard, SHARDS, 10));
    const [there, elsewhere] = [driverIn('group-2', true), driverIn('group-2', false)];
    between.now = noEntries;
    const run = indexed.repair({ wrap: faulty.wrap });
    faulty.behaviours.set('group-2', 'down');
    await indexed.write(
      rows.map((row_key, position) => ({
        row_key,
        ref_key: 5,
        body: { driver: position % 2 === 0 ? there : elsewhere },
      })),
    );
    const found = async (driver: string) => (await indexed.found(driver)).length;
    await until('the entries of other groups are there', async () => (await found(elsewhere)) === rows.length / 2);
    await until('marked', () => run.events.some(({ kind }) => kind === 'pending'));
    faulty.behaviours.clear();
    await until('those of the group are there', async () => (await found(there)) === rows.length / 2);
    between.now = (client) => client;
    await clean();
    await until('no mark is left', () => run.events.some(({ kind }) => kind === 'caught_up'));
    await run.stop();
    expect(await indexed.problems()).toEqual([]);
  });

  it('makes good what racing writers leave behind', async () => {
    // Eight rows, each with a last write that is lost nine times in ten: all right less than once in 500,000 runs.
    between.now = unreliableEntries(0.9, 60);
    await race(6, 10);
    expect((await indexed.problems()).length, 'with the repair off').toBeGreaterThan(0);
    between.now = unreliableEntries(0.3, 60);
    const run = indexed.repair();
    await race(6, 15);
    between.now = (client) => client;
    await clean();
    await run.stop();
    expect(countKinds(await indexed.problems())).toEqual(NONE);
  });

  it('would leave entries under former values if there were no tombstones', async () => {
    between.now = noTombstones;
    const run = indexed.repair({ wrap: noTombstones });
    await race(2, 20);
    await indexed.followed();
    expect(countKinds(await indexed.problems()).extra).toBeGreaterThan(0);
    await run.stop();
    between.now = (client) => client;
    await indexed.problems('drivers', true);
    expect(countKinds(await indexed.problems())).toEqual(NONE);
  });

  it('purges tombstones that are old, and entries never', async () => {
    const count = (is: string) => indexed.countEntries(`tombstone_at IS ${is}`);
    const [tombstones, entries] = [await count('NOT NULL'), await count('NULL')];
    expect(tombstones).toBeGreaterThan(0);
    const due = `due#purge#${indexed.datastore}`;
    const before = indexed.repair();
    await until('it searched for old ones', async () => (await readState(indexed.stateTable, due)) !== undefined);
    await before.stop();
    expect(await count('NOT NULL')).toBe(tombstones);
    await updateState(indexed.stateTable, {
      key: due,
      update: 'SET #due = :due',
      values: { ':due': { N: '0' } },
    });
    const run = indexed.repair({ settings: { tombstoneAgeMs: 0 } });
    await until('purged', async () => (await count('NOT NULL')) === 0);
    await run.stop();
    expect(await count('NULL')).toBe(entries);
  });

  it('hands over to its successor, which goes on', async () => {
    const first = indexed.repair();
    await until('it follows', () => first.events.some(({ kind }) => kind === 'followed'));
    const second = indexed.repair();
    await first.ended;
    const before = first.events.length;
    between.now = noEntries;
    await indexed.write([{ row_key: randomUUID(), body: { driver: randomUUID() } }]);
    between.now = (client) => client;
    await clean();
    await second.stop();
    expect(second.events.some(({ kind }) => kind === 'repaired')).toBe(true);
    expect(first.events).toHaveLength(before);
  });

  it('shares the logs with other slots, and leaves to slot 0 what one run alone does', async () => {
    // Takes no run for dead on a busy machine.
    const heartbeat = { heartbeatMs: 100, silenceMs: 20_000 };
    const runs = [0, 1].map((slot) => indexed.repair({ slot, heartbeat }));
    const held = ({ events }: (typeof runs)[number]): number =>
      events.reduce((sum, event) => {
        if (event.kind !== 'followed' || event.follower !== 'repair') return sum;
        return sum + Number(event.event.kind === 'partition_taken') - Number(event.event.kind === 'partition_released');
      }, 0);
    await until('each has its half', () => runs.every((run) => held(run) === SHARDS / 2));
    between.now = noEntries;
    const rows = Array.from({ length: SHARDS }, (_, shard) => rowsOfShard(shard, SHARDS, 10)).flat();
    await indexed.write(rows.map((row_key) => ({ row_key, ref_key: 6, body: { driver: randomUUID() } })));
    between.now = (client) => client;
    await clean();
    await Promise.all(runs.map((run) => run.stop()));
    const repaired = runs.map(({ events }) =>
      events.reduce((sum, event) => sum + (event.kind === 'repaired' ? event.entries : 0), 0),
    );
    expect(repaired).toEqual([30, 30]);
    // The watch of builds reports it, under the lease of the datastore.
    expect(runs.map(({ events }) => events.some(({ kind }) => kind === 'lag'))).toEqual([true, false]);
  });

  it('gives a shard that moved away from a group the entries that the group had missed', async () => {
    const driver = randomUUID();
    const shard = shardOfValue(driver, 'UUID', SHARDS);
    between.now = noEntries;
    await indexed.write(Array.from({ length: 12 }, () => ({ row_key: randomUUID(), body: { driver } })));
    between.now = (client) => client;
    const { store, datastore, stateTable } = indexed;
    await using mover = await openMover(store, 'trips');
    const { group } = await mover.home(shard);
    const pending = pendingMarks(stateTable, datastore);
    await pending.mark(group, new Map(Array.from({ length: SHARDS }, (_, each) => [each, 1])));
    mover.start();
    await mover.move(shard, (await mover.others(shard))[0]);
    await mover.complete(shard);
    expect(await indexed.problems(), 'the copy lacks them, too').toHaveLength(12);
    const work = {
      context: { ...store.context, topology: dynamoTopology(store.topologyTable) },
      datastore,
      indexes: { maintained: async () => [await indexed.live()] },
      unavailable: new Set(),
      slow: new Set(),
      report: () => undefined,
    } as unknown as RepairWork;
    const poll = watchPending(work, pending, new AbortController().signal);
    await until('no mark is left', async () => {
      await poll();
      return (await pending.read([group], SHARDS)).length === 0;
    });
    expect(await indexed.problems()).toEqual([]);
  });
});
