import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IndexDefinition } from '../../../../shared/definitions/definitions.ts';
import { committedOffsets } from '../../../../shared/follow/follower-lag.ts';
import { dynamoTopology } from '../../../../shared/topology/dynamo-topology.ts';
import { errorOf } from '../../../support/datastore-conformance.ts';
import { until } from '../../follow/support/followed-store.ts';
import { noEntries } from './support/entry-writes.ts';
import { countKinds, DRIVERS, openIndexedStore, type IndexedStore, type Wrap } from './support/indexed-store.ts';

const SHARDS = 6;
const CELLS = 600;
const NONE = { missing: 0, extra: 0, wrong: 0 };
const CITIES: IndexDefinition = {
  name: 'cities',
  fields: [
    { field: 'city', type: 'string', column_key: 'BASE' },
    { field: 'driver', type: 'UUID', column_key: 'BASE' },
  ],
  keys: [],
};
let through: Wrap = (client) => client;
let indexed: IndexedStore;

beforeAll(async () => {
  // No index yet: what was written so far only a build can find.
  indexed = await openIndexedStore(
    SHARDS,
    (client, group) => ({ ...client, change: (statement) => through(client, group).change(statement) }),
    [],
  );
  await indexed.write(Array.from({ length: CELLS }, newTrip));
});
afterAll(() => indexed.close());

const newTrip = (_?: unknown, place = 0) => ({
  row_key: randomUUID(),
  body: { driver: randomUUID(), city: `city ${place % 20}` },
});
const catalogue = async (name: string) =>
  (await dynamoTopology(indexed.store.topologyTable).indexes(indexed.datastore)).find((one) => one.name === name)
    ?.versions ?? [];

/** Writes rows, and changes some, until told to stop. */
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
    const offsets = async (): Promise<number> =>
      (
        await committedOffsets(
          indexed.stateTable,
          { name: `build/drivers/${building.hash}`, datastore: indexed.datastore },
          SHARDS,
        )
      ).reduce<number>((sum, id = 0) => sum + id, 0);
    expect(
      (
        await errorOf(() =>
          indexed.trips.query({
            index: 'drivers',
            where: [{ field: 'driver', operator: 'eq', values: [randomUUID()] }],
          }),
        )
      ).code,
    ).toBe('index_building');
    // Writers that have not heard of the index: what they write is the repair's.
    through = noEntries;
    const stopWriting = keepWriting();

    const first = indexed.repair({ settings: { buildCellsPerSecond: 100 } });
    await until('it is under way', async () => (await offsets()) > 100);
    const progress = await (async () => {
      let { progress: shown } = await indexed.store.topology.indexNow(indexed.datastore, 'drivers');
      await until(
        'progress is shown',
        async () =>
          ((shown = (await indexed.store.topology.indexNow(indexed.datastore, 'drivers')).progress)?.builds[
            building.hash
          ]?.done ?? 0) > 0,
      );
      return shown?.builds[building.hash];
    })();
    expect(progress?.total).toBeGreaterThanOrEqual(CELLS);
    await first.stop();
    const reached = await offsets();
    expect(reached).toBeLessThan(CELLS);
    expect(first.events.some(({ kind }) => kind === 'live')).toBe(false);

    const second = indexed.repair();
    const resumed = await offsets();
    expect(resumed).toBeGreaterThanOrEqual(reached);
    await until('it is live', async () => (await indexed.version('drivers')) !== undefined, 20_000);
    const written = await stopWriting();
    await until('no problems', async () => (await indexed.problems()).length === 0, 20_000);
    expect(written).toBeGreaterThan(0);
    await until('its offsets are forgotten', async () => (await offsets()) === 0);
    await until(
      'its spread is known',
      async () =>
        ((await indexed.store.topology.indexNow(indexed.datastore, 'drivers')).progress?.largest_share ?? 0) >
        1 / SHARDS,
    );
    await second.stop();
    through = (client) => client;
    expect(second.events.filter(({ kind }) => kind === 'failed')).toEqual([]);
  }, 60_000);

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
        where: [{ field: 'driver', operator: 'eq', values: [trip.body.driver] }],
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
      20_000,
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
      const tables = await (
        await indexed.client(shard)
      ).select(
        {
          sql: 'SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_name = ?',
          parameters: [`${indexed.datastore}_000${shard}`, `drivers_${before?.hash}`],
        },
        'writer',
      );
      expect(tables).toEqual([]);
    }
    expect(run.events.filter(({ kind }) => kind === 'failed')).toEqual([]);
  }, 60_000);
});
