import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { committedOffsets } from '../../../../shared/follow/follower-lag.ts';
import { errorOf } from '../../../support/datastore-conformance.ts';
import { until } from '../../../support/until.ts';
import { noEntries } from './support/entry-writes.ts';
import { changeable, DRIVERS, sharedIndexed } from './support/indexed-store.ts';

const SHARDS = 6;
const CELLS = 600;

const newTrip = (_?: unknown, position = 0) => ({
  row_key: randomUUID(),
  body: { driver: randomUUID(), city: `city ${position % 20}` },
});

const { between, wrap } = changeable();
// No index yet: what was written so far only a build can find.
const indexed = await sharedIndexed(SHARDS, wrap, []);
await indexed.write(Array.from({ length: CELLS }, newTrip));
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
  it('is built from the logs while writes go on, stopped in the middle and resumed by two slots', async () => {
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

    const slots = [0, 1].map((slot) => indexed.repair({ slot }));
    const resumed = await offsets();
    expect(resumed).toBeGreaterThanOrEqual(reached);
    await until('it is live', async () => (await indexed.version('drivers')) !== undefined);
    const written = await stopWriting();
    await until('no problems', async () => (await indexed.problems()).length === 0);
    expect(written).toBeGreaterThan(0);
    await until('its offsets are forgotten', async () => (await offsets()) === 0);
    await until('its spread is known', async () => ((await progress())?.largest_share ?? 0) > 1 / SHARDS);
    await Promise.all(slots.map((slot) => slot.stop()));
    between.now = (client) => client;
    expect(slots.flatMap(({ events }) => events.filter(({ kind }) => kind === 'failed'))).toEqual([]);
  });
});
