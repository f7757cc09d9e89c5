import { beforeEach, describe, expect, it } from 'vitest';
import { shardDatabase } from '../../../shared/address.ts';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';
import { PROTECTIONS } from '../../faults/without/protections.ts';
import { sharedConnection } from '../../support/connection-to.ts';
import { faults } from '../../support/faulty-client.ts';
import { indexOn } from '../../support/index-on.ts';
import { openTrips, sharedTrips } from '../../support/open-trips.ts';

const SHARDS = 12;
const INDEXED = { indexes: [indexOn('city_index', { city: 'string' })], access: 'mysql' } as const;
const { store, trips, primary, groupOf, entity, rowIn } = await sharedTrips(SHARDS, INDEXED);
const locked = 0;
const others = Array.from({ length: SHARDS }, (_, shard) => shard).filter(
  (shard) => shard !== locked && groupOf(shard) === primary,
);
const holder = await sharedConnection(primary);

const COLUMN = { column_name: 'BASE', ref_key: 1 };

/**
 * Starts so much work on the locked shard, which waits, and then does rounds of it on the others: no more than is
 * admitted.
 */
async function roundsWhileLocked<T>(waiting: number, work: (shard: number) => Promise<T>): Promise<readonly T[]> {
  await holder.query(`LOCK TABLES ${entity(locked)} WRITE`);
  const stuck = Array.from({ length: waiting }, () => work(locked));
  const done: T[] = [];
  for (let round = 0; round < 10; round += 1)
    done.push(...(await Promise.all(others.flatMap((shard) => Array.from({ length: 4 }, () => work(shard))))));
  await holder.query('UNLOCK TABLES');
  await Promise.allSettled(stuck);
  return done;
}

describe('a locked table', () => {
  beforeEach(() => void store.events.splice(0));
  const opened = (): unknown[] => store.events.filter(({ kind }) => kind === 'circuit_opened');

  it('keeps no write of another shard of its group from being stored', async () => {
    // A write that waits for the lock, or finds no connection, reaches a time limit and is buffered.
    const written = await roundsWhileLocked(16, (shard) =>
      trips.put({ row_key: rowIn(shard), ...COLUMN, body: { shard } }),
    );
    expect([written.filter(({ outcome }) => outcome !== 'stored'), opened()]).toEqual([[], []]);
  });

  it('keeps writes of other shards from being stored where a circuit opens on any time limit: the control', async () => {
    await using blaming = await openTrips(SHARDS, { ...INDEXED, wrap: PROTECTIONS.healthChecks });
    const put = (shard: number) => blaming.trips.put({ row_key: blaming.rowIn(shard), ...COLUMN, body: { shard } });
    await holder.query(`LOCK TABLES ${blaming.entity(locked)} WRITE`);
    // Repeats until one is seen: a process that pauses for half a second misses the time a circuit is open.
    const next = async () => {
      await put(locked);
      return (await put(others[0] ?? 0)).outcome;
    };
    await expect.poll(next).toBe('buffered');
    await holder.query('UNLOCK TABLES');
  });

  it('leaves connections for reads of the other shards, however many statements wait for it', async () => {
    const rows = new Map([locked, ...others].map((shard) => [shard, rowIn(shard)]));
    for (const row_key of rows.values()) await trips.put({ row_key, ...COLUMN, body: 'read' });
    const read = await roundsWhileLocked(16, (shard) => trips.row(rows.get(shard) ?? ''));
    const stale = read.filter(({ served_by, cells }) => served_by !== 'writer' || cells.length !== 1);
    expect([stale, opened()]).toEqual([[], []]);
  });
});

it('a locked table costs reads that share a statement with it the time to find it once: they are fresh, and leave it out', async () => {
  const broken = faults();
  await using opened = await openTrips(SHARDS, { ...INDEXED, wrap: broken.wrap });
  const database = shardDatabase(opened.name, locked);
  const shards = [locked, ...others];
  const rows = shards.map(opened.rowIn);
  const cities = shards.map(
    (shard) =>
      Array.from({ length: 1000 }, (_, number) => `city ${number}`).find(
        (city) => shardOfValue(city, 'string', SHARDS) === shard,
      ) ?? '',
  );
  for (const [position, row_key] of rows.entries())
    await opened.trips.put({ row_key, ...COLUMN, body: { city: cities[position] ?? '' } });
  const query = (city: string) => opened.trips.query({ index: 'city_index', where: { city }, batched: true });
  await expect
    .poll(async () => (await Promise.all(cities.map(query))).every(({ entries }) => entries.length === 1))
    .toBe(true);
  const served = (one: unknown): string => String(Object(one).error ? 'error' : Object(one).served_by);
  const batchGet = () => opened.trips.batchGet(rows.map((row_key) => ({ row_key, column_name: 'BASE' })));
  const log = () => opened.trips.log(shards.map((shard) => ({ shard, after: 0 })));
  const get = () => Promise.all(rows.map((row_key) => opened.trips.get({ row_key, ...COLUMN })));
  const queries = () => Promise.all(cities.map(query));

  const [tables] = await holder.query(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ?',
    [database],
  );
  const names = (tables as { readonly name: string }[]).map(({ name }) => `\`${database}\`.\`${name}\` WRITE`);
  await holder.query(`LOCK TABLES ${names.join(', ')}`);
  await using unlocking = new AsyncDisposableStack();
  unlocking.defer(async () => void (await holder.query('UNLOCK TABLES')));
  const expected = ['reader', ...others.map(() => 'writer')];
  // An index has tables of its own: each is found once.
  for (const read of [get, queries]) await expect.poll(async () => (await read()).map(served)).toEqual(expected);
  broken.statements.length = 0;
  for (const read of [get, batchGet, log, queries])
    await expect.poll(async () => (await read()).map(served)).toEqual(expected);
  // The check whether it is still locked takes statements of its own.
  const asked = broken.statements.filter(({ target, sql }) => target === 'writer' && sql.includes(`\`${database}\``));
  expect(asked.filter(({ sql }) => !sql.startsWith('SELECT 1 FROM'))).toEqual([]);
  await unlocking.disposeAsync();
  await expect.poll(async () => served((await batchGet())[0])).toBe('writer');
});
