import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { committedOffsets } from '../../../../shared/follow/follower-lag.ts';
import { shardDatabase } from '../../../../shared/address.ts';
import { dynamoTopology } from '../../../../shared/topology/dynamo-topology.ts';
import { errorOf } from '../../../support/datastore-conformance.ts';
import { eq, indexOn } from '../../../support/index-on.ts';
import { select } from '../../../support/plain-sql.ts';
import { until } from '../../../support/until.ts';
import { noEntries } from './support/entry-writes.ts';
import { changeable, countKinds, DRIVERS, sharedIndexed } from './support/indexed-store.ts';

const SHARDS = 6;
const CELLS = 600;
const NONE = { missing: 0, extra: 0, wrong: 0 };
const CITIES = indexOn('cities', { city: 'string', driver: 'UUID' });

const newTrip = (_?: unknown, position = 0) => ({
  row_key: randomUUID(),
  body: { driver: randomUUID(), city: `city ${position % 20}` },
});

const { between, wrap } = changeable();
// No index yet: what was written so far only a build can find.
const indexed = await sharedIndexed(SHARDS, wrap, []);
await indexed.write(Array.from({ length: CELLS }, newTrip));
const catalogue = async (name: string) =>
  (await dynamoTopology(indexed.store.topologyTable).indexes(indexed.datastore)).find((one) => one.name === name)
    ?.versions ?? [];
const progress = async () => (await indexed.store.topology.indexNow(indexed.datastore, 'drivers')).progress;

function keepWriting(): () => Promise<number> {
  const state = { going: true };
  let cells = 0;
  const writing = (async () => {
    while (state.going) {
      const [one, two] = [newTrip(undefined, cells), newTrip(undefined, cells + 1)];
      await indexed.write([one, two, { row_key: one.row_key, ref_key: 2, body: { ...one.body, city: 'elsewhere' } }]);
      cells += 3;
    }
  })();
  return async () => {
    state.going = false;
    await writing;
    return cells;
  };
}

describe('an index added to a datastore', () => {
  it('is built from the logs while writes go on, stopped in the middle and resumed', async () => {
    await indexed.deploy([DRIVERS]);
    const building = await indexed.version('drivers', 'building');
    if (!building) throw new Error('not listed');
    const follower = { name: `build/drivers/${building.hash}`, datastore: indexed.datastore };
    const offsets = async (): Promise<number> =>
      (await committedOffsets(indexed.stateTable, follower, SHARDS)).reduce<number>((sum, id = 0) => sum + id, 0);
    expect((await errorOf(() => indexed.found(randomUUID()))).code).toBe('index_building');
    // Writers that have not heard of the index: what they write is the repair's.
    between.now = noEntries;
    const stopWriting = keepWriting();

    const first = indexed.repair({ settings: { buildCellsPerSecond: 5 } });
    await until('it is under way', async () => (await offsets()) > 0);
    const built = async () => (await progress())?.builds[building.hash];
    await until('progress is shown', async () => ((await built())?.done ?? 0) > 0);
    expect((await built())?.total).toBeGreaterThanOrEqual(CELLS);
    await first.stop();
    const reached = await offsets();
    expect(reached).toBeLessThan(CELLS);
    expect(first.events.some(({ kind }) => kind === 'live')).toBe(false);

    const second = indexed.repair();
    const resumed = await offsets();
    expect(resumed).toBeGreaterThanOrEqual(reached);
    await until('it is live', async () => (await indexed.version('drivers')) !== undefined);
    const written = await stopWriting();
    await until('no problems', async () => (await indexed.problems()).length === 0);
    expect(written).toBeGreaterThan(0);
    await until('its offsets are forgotten', async () => (await offsets()) === 0);
    await until('its spread is known', async () => ((await progress())?.largest_share ?? 0) > 1 / SHARDS);
    await second.stop();
    between.now = (client) => client;
    expect(second.events.filter(({ kind }) => kind === 'failed')).toEqual([]);
  });

  it('answers by its old definition until the new one is complete, whose tables are then dropped', async () => {
    const before = await indexed.version('drivers');
    const trip = newTrip();
    await indexed.write([trip]);
    await indexed.deploy([
      { ...DRIVERS, fields: [...DRIVERS.fields, { field: 'riders', type: 'integer', column_key: 'BASE' }] },
      CITIES,
    ]);
    const ask = () =>
      indexed.trips.query({
        index: 'drivers',
        where: [eq('driver', trip.body.driver)],
        explain: true,
      });
    const old = await ask();
    expect(old.entries.map(({ row_key }) => row_key)).toEqual([trip.row_key]);
    expect(old.explain?.statement).toContain(`drivers_${before?.hash}`);

    const run = indexed.repair({ settings: { retiredForMs: 1000 } });
    await until(
      'both are live',
      async () =>
        (await catalogue('drivers')).some(({ hash, state }) => state === 'live' && hash !== before?.hash) &&
        (await indexed.version('cities')) !== undefined,
    );
    indexed.store.topology.refresh();
    const changed = await ask();
    expect(changed.entries.map(({ fields }) => fields)).toEqual([
      { driver: trip.body.driver, city: 'city 0', is_done: null, riders: null },
    ]);
    expect(countKinds([...(await indexed.problems()), ...(await indexed.problems('cities'))])).toEqual(NONE);

    await until('the old version is forgotten', async () => (await catalogue('drivers')).length === 1);
    await run.stop();
    for (let shard = 0; shard < SHARDS; shard += 1) {
      const named = 'SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_name = ?';
      const database = shardDatabase(indexed.datastore, shard);
      const tables = await select(await indexed.client(shard), named, database, `drivers_${before?.hash}`);
      expect(tables).toEqual([]);
    }
    expect(run.events.filter(({ kind }) => kind === 'failed')).toEqual([]);
  });
});
