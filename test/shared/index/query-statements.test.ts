import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../shared/cell.ts';
import type { IndexQuery } from '../../../shared/contract/index-query.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { faults } from '../../support/faulty-client.ts';
import { SUITE_INDEXES } from '../../support/index-conformance.ts';
import { until } from '../../support/until.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';
import { openTrips, sharedTrips } from '../../support/open-trips.ts';

const SHARDS = 12;
const DRIVERS = 6;
const TRIPS = 9;
const broken = faults();
let isShuffled = false;
const { store, trips, primary, groupOf } = await sharedTrips(SHARDS, {
  indexes: SUITE_INDEXES.slice(0, 1),
  wrap: (client, name) => broken.wrap(shuffling(client), name),
});
const driver = randomUUID();
const query = queryOf(driver);
const group = groupOf(shardOfValue(driver, 'UUID', SHARDS));
/** Others, all of one group. */
const shards = Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => groupOf(shard) === primary);
const drivers = Array.from({ length: DRIVERS }, (_, position) => driverOf(shards[position % shards.length] ?? 0));

beforeAll(async () => {
  await trips.batchPut(Array.from({ length: 40 }, () => cellOf({ body: { driver_uuid: driver } })));
  await trips.batchPut(
    drivers.flatMap((driver_uuid) =>
      Array.from({ length: TRIPS }, (_, position) =>
        cellOf({ body: { driver_uuid, city: position % 3 === 0 ? 'Faro' : 'Porto', riders: position } }),
      ),
    ),
  );
  // A write waits for its entries for a moment only.
  await until('all entries are there', async () => {
    const found = await Promise.all([driver, ...drivers].map((one) => trips.query(queryOf(one))));
    return found.reduce((sum, { entries }) => sum + entries.length, 0) === 40 + DRIVERS * TRIPS;
  });
});

afterEach(() => {
  isShuffled = false;
  broken.behaviours.clear();
  broken.statements.length = 0;
});

function shuffling(client: SqlClient): SqlClient {
  return {
    ...client,
    async select(statement, target) {
      const rows = await client.select(statement, target);
      return isShuffled && statement.parts ? rows.toReversed() : rows;
    },
  };
}

function driverOf(shard: number): string {
  for (;;) {
    const driver = randomUUID();
    if (shardOfValue(driver, 'UUID', SHARDS) === shard) return driver;
  }
}

function queryOf(of: string, more: Partial<IndexQuery> = {}, conditions: IndexQuery['where'] = {}): IndexQuery {
  return { index: 'driver_index', where: { driver_uuid: of, ...conditions }, ...more };
}
const ofFaro = { city: 'Faro' } as const;

async function askBoth(queries: readonly IndexQuery[]) {
  const alone = [];
  for (const query of queries) alone.push(await trips.query(query));
  broken.statements.length = 0;
  const batched = await Promise.all(queries.map((query) => trips.query({ ...query, batched: true })));
  return { alone, batched, statements: broken.statements.map(({ sql }) => sql) };
}

describe('a put', () => {
  it.skipIf(WRITER_ONLY)(
    'reads nothing by itself for its index entries: what its row holds comes with the append',
    async () => {
      const statements: string[] = [];
      await using watched = await openTrips(SHARDS, {
        indexes: SUITE_INDEXES.slice(0, 1),
        bufferCopies: 0,
        wrap: (client) => ({
          ...client,
          select: (statement, target) => (statements.push(statement.sql), client.select(statement, target)),
        }),
      });
      const datastore = watched.trips;
      const [first, second] = [randomUUID(), randomUUID()];
      const found = async (value: string): Promise<number> =>
        (await datastore.query({ ...query, where: { driver_uuid: value } })).entries.length;
      const cell = cellOf({ body: { driver_uuid: first } });
      await datastore.put(cell);
      await datastore.put({ ...cell, ref_key: cell.ref_key + 1, body: { driver_uuid: second } });
      const others = Array.from({ length: 30 }, () => cellOf({ body: { driver_uuid: second } }));
      await datastore.batchPut(others.slice(0, 20));
      await Promise.all(others.slice(20).map((one) => datastore.put(one)));
      expect(statements).toEqual([]);
      await expect.poll(() => found(second)).toBe(31);
      expect(await found(first)).toBe(0);
    },
  );
});

describe('a query', () => {
  it('is one statement to one shard, however many rows it finds', async () => {
    broken.statements.length = 0;
    expect((await trips.query(query)).entries).toHaveLength(40);
    expect(broken.statements.map((statement) => statement.group)).toEqual([group]);
    expect(broken.statements[0]?.sql.match(/FROM/g)).toHaveLength(1);
  });

  it('that brings cells along costs one statement more per group', async () => {
    broken.statements.length = 0;
    const { entries } = await trips.query({ ...query, columns: '*' });
    expect(entries.every(({ cells }) => Array.isArray(cells) && cells.length === 1)).toBe(true);
    expect(broken.statements).toHaveLength(1 + store.groups.length);
  });

  it('explains itself: shard, group, statement and plan', async () => {
    const { explain } = await trips.query({ ...query, explain: true });
    expect(explain).toMatchObject({
      shard: shardOfValue(driver, 'UUID', SHARDS),
      group,
      statement: expect.stringMatching(/^SELECT/),
      plan: expect.any(Object),
    });
  });

  it.skipIf(WRITER_ONLY)('is answered by a reader on request, and by the other role when one is down', async () => {
    await expect.poll(async () => (await trips.query({ ...query, read: 'reader' })).entries.length).toBe(40);
    expect(await trips.query({ ...query, read: 'reader' })).toMatchObject({ served_by: 'reader', stale: true });
    broken.behaviours.set(group, 'writer-down');
    expect(await trips.query(query)).toMatchObject({ served_by: 'reader', stale: true });
    broken.behaviours.set(group, 'down');
    await expect(trips.query(query)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('answers rows whose group is down without their cells, each with the reason', async () => {
    const other = store.groups.map(({ name }) => name).find((name) => name !== group) ?? '';
    broken.behaviours.set(other, 'down');
    const { entries } = await trips.query({ ...query, columns: ['BASE'] });
    const failed = entries.filter(({ cells }) => cells && 'error' in cells);
    expect(entries).toHaveLength(40);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(40);
    for (const { cells } of failed) expect(cells).toMatchObject({ error: { code: 'unavailable' } });
  });
});

describe('queries of one group that are asked together', () => {
  it('take one statement, and one more for the first of them when it may come alone', async () => {
    const { alone, batched, statements } = await askBoth(
      drivers.map((driver, position) =>
        queryOf(driver, { limit: position + 1 }, ...(position % 2 === 0 ? [] : [ofFaro])),
      ),
    );
    expect(batched).toEqual(alone);
    expect(batched.map(({ entries }) => entries.length)).toEqual([1, 2, 3, 3, 5, 3]);
    expect(statements.length).toBeLessThanOrEqual(2);
  });

  it('take one each where they were not allowed to', async () => {
    await Promise.all(drivers.map((driver) => trips.query(queryOf(driver))));
    expect(broken.statements).toHaveLength(DRIVERS);
  });

  it('go on where their cursors say', async () => {
    const first = await Promise.all(drivers.map((driver) => trips.query(queryOf(driver, { limit: 5, batched: true }))));
    const { alone, batched, statements } = await askBoth(
      drivers.map((driver, position) => queryOf(driver, { limit: 5, after: first[position]?.next ?? '' })),
    );
    expect(batched).toEqual(alone);
    expect(statements.length).toBeLessThanOrEqual(2);
    for (const [position, { entries, next }] of batched.entries()) {
      const keys = [...(first[position]?.entries ?? []), ...entries].map(({ row_key }) => row_key);
      expect(next).toBeNull();
      expect(keys).toEqual([...new Set(keys)].toSorted());
      expect(keys).toHaveLength(TRIPS);
    }
  });

  it('are answered in order, which a union does not promise', async () => {
    isShuffled = true;
    const { alone, batched } = await askBoth(drivers.map((driver) => queryOf(driver, { limit: TRIPS - 1 })));
    expect(batched).toEqual(alone);
  });

  it.each<[string, Partial<IndexQuery>, IndexQuery['where']]>([
    ['have an order of their own', { order: 'riders' }, {}],
    ['ask for a range', {}, { riders: { gte: 3 } }],
    ['ask for two values at once', {}, { ...ofFaro, riders: 3 }],
    // The RDS Data API's pages are shorter.
    ...(WRITER_ONLY
      ? []
      : [
          ['may find more than one may ask for', { limit: LIMITS.listCells / 2 + 1 }, {}] satisfies [
            string,
            Partial<IndexQuery>,
            IndexQuery['where'],
          ],
        ]),
  ])('take one each where they %s: what reads much holds up nothing else', async (_what, more, conditions) => {
    const { alone, batched, statements } = await askBoth(drivers.map((driver) => queryOf(driver, more, conditions)));
    expect(batched).toEqual(alone);
    expect(statements).toHaveLength(DRIVERS);
  });

  it('take one each where they ask how: what is explained is what was run', async () => {
    const { batched, statements } = await askBoth(drivers.map((driver) => queryOf(driver, { explain: true })));
    const ran = statements.filter((sql) => !sql.startsWith('EXPLAIN'));
    expect(ran.toSorted()).toEqual(batched.map(({ explain }) => explain?.statement).toSorted());
  });

  it('fail together, and leave nothing behind', async () => {
    broken.behaviours.set(primary, 'down');
    const results = await Promise.allSettled(drivers.map((driver) => trips.query(queryOf(driver, { batched: true }))));
    for (const result of results)
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'unavailable', retry: 'later' } });
    broken.behaviours.clear();
    const { alone, batched } = await askBoth(drivers.map((driver) => queryOf(driver)));
    expect(batched).toEqual(alone);
  });

  it('bring their cells along, each its own', async () => {
    const { alone, batched } = await askBoth(drivers.map((driver) => queryOf(driver, { columns: ['BASE'], limit: 4 })));
    expect(batched).toEqual(alone);
    expect(batched[1]?.entries[0]?.cells).toMatchObject([{ column_name: 'BASE' }]);
  });
});

describe('a write', () => {
  it('is stored while the group of its index entries is down', async () => {
    const cells = Array.from({ length: 20 }, () => cellOf({ body: { driver_uuid: driver } }));
    broken.behaviours.set(group, 'down');
    const results = await trips.batchPut(cells);
    for (const result of results) expect(result.outcome).toBe(groupOf(result.shard) === group ? 'buffered' : 'stored');
    expect(store.events.some((event) => event.kind === 'index_missed' && event.group === group)).toBe(true);
  });
});
