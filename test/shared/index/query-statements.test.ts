import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { IndexQuery } from '../../../shared/contract/index-query.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { faults } from '../../support/faulty-client.ts';
import { SUITE_INDEXES } from '../../support/index-conformance.ts';
import { eq } from '../../support/index-on.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';
import { openTrips, sharedTrips } from '../../support/open-trips.ts';

const SHARDS = 12;
const broken = faults();
const { store, trips, groupOf } = await sharedTrips(SHARDS, {
  indexes: SUITE_INDEXES.slice(0, 1),
  wrap: broken.wrap,
});
const driver = randomUUID();
const query: IndexQuery = {
  index: 'driver_index',
  where: [eq('driver_uuid', driver)],
};
const group = groupOf(shardOfValue(driver, 'UUID', SHARDS));

beforeAll(async () => {
  await trips.batchPut(Array.from({ length: 40 }, () => cellOf({ body: { driver_uuid: driver } })));
  // A write waits for its entries for a moment only.
  await vi.waitFor(async () => {
    if ((await trips.query(query)).entries.length < 40) throw new Error('entries are missing');
  }, 15_000);
});

afterEach(() => broken.behaviours.clear());

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
        (await datastore.query({ ...query, where: [eq('driver_uuid', value)] })).entries.length;
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

describe('a write', () => {
  it('is stored while the group of its index entries is down', async () => {
    const cells = Array.from({ length: 20 }, () => cellOf({ body: { driver_uuid: driver } }));
    broken.behaviours.set(group, 'down');
    const results = await trips.batchPut(cells);
    for (const result of results) expect(result.outcome).toBe(groupOf(result.shard) === group ? 'buffered' : 'stored');
    expect(store.events.some((event) => event.kind === 'index_missed' && event.group === group)).toBe(true);
  });
});
