import { beforeEach, describe, expect, it } from 'vitest';
import type { SqlClient, Statement, Target } from '../../../shared/sql/client.ts';
import { cellOf, errorOf } from '../../support/datastore-conformance.ts';
import { indexOn } from '../../support/index-on.ts';
import { lookedUp } from '../../support/looked-up-batched.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { shardDatabase } from '../../../shared/address.ts';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';

const SHARDS = 12;
const damaged = new Map<Target, ReadonlySet<number>>();
let statements = 0;

/** Sends what names such a table to one that is not there: what comes of it are the server's own refusals. */
function wrap(client: SqlClient): SqlClient {
  const meet = (statement: Statement, target: Target): Statement => {
    let { sql } = statement;
    for (const shard of damaged.get(target) ?? []) sql = sql.replaceAll(databaseOf(shard), `\`gone\`.`);
    return {
      ...statement,
      sql,
      ...(statement.parts ? { parts: statement.parts.map((part) => meet(part, target)) } : {}),
    };
  };
  return {
    ...client,
    select(statement, target) {
      statements += 1;
      return client.select(meet(statement, target), target);
    },
  };
}

const { store, trips, name, groupOf, rowIn } = await sharedTrips(SHARDS, {
  indexes: [indexOn('city_index', { city: 'string' })],
  bufferCopies: 0,
  wrap,
});
const databaseOf = (shard: number): string => `\`${shardDatabase(name, shard)}\`.`;
const rows = Array.from({ length: SHARDS }, (_, shard) => rowIn(shard));
for (const row_key of rows) await trips.put(cellOf({ row_key, body: { city: 'Lisbon' } }));

beforeEach(() => damaged.clear());

const keys = rows.map((row_key) => ({ row_key, column_name: 'BASE' }));
const locations = rows.map((_, shard) => ({ shard, after: 0 }));
const neighbour = rows.findIndex((_, shard) => shard > 0 && groupOf(shard) === groupOf(0));

describe('a table that no node can read', () => {
  beforeEach(() => {
    damaged.set('writer', new Set([0]));
    damaged.set('reader', new Set([0]));
  });

  it('fails its own item of a batch, not those of the shards that are asked with it', async () => {
    const items = await trips.batchGet(keys);
    expect(items[0]).toMatchObject({
      error: { code: 'unavailable', details: { more: { group: expect.any(String) } } },
    });
    expect(items.slice(1)).toEqual(rows.slice(1).map((row_key) => expect.objectContaining({ row_key })));
  });

  it('fails its own log and head, also where places are looked up by time', async () => {
    for (const asked of [locations, rows.map((_, shard) => ({ shard, since: '2026-01-01T00:00:00Z' }))]) {
      const logs = await trips.log(asked);
      expect(logs[0]).toMatchObject({ shard: 0, error: { code: 'unavailable' } });
      expect(logs.slice(1).map((log) => !log.error && log.cells.length)).toEqual(rows.slice(1).map(() => 1));
    }
    const heads = await trips.heads();
    expect(heads[0]).toMatchObject({ shard: 0, group: expect.any(String), error: { code: 'unavailable' } });
    expect(heads.slice(1).map((head) => !head.error && head.head)).toEqual(rows.slice(1).map(() => 1));
  });

  it('fails its own look-up among those that share a statement', async () => {
    const found = await Promise.all(
      [neighbour, 0, neighbour, 0, neighbour].map((one) =>
        trips.getLatest({ row_key: rows[one] ?? '', column_name: 'BASE' }).catch((error: unknown) => error),
      ),
    );
    const [itself, refused] = [{ cell: {} }, { code: 'unavailable' }];
    expect(found).toMatchObject([itself, refused, itself, refused, itself]);
  });

  it('fails its own look-up among those that come together', async () => {
    const found = await lookedUp(trips, keys);
    expect(found[0]).toMatchObject({ error: { code: 'unavailable' } });
    expect(found.slice(1)).toMatchObject(rows.slice(1).map((row_key) => ({ cell: { row_key } })));
  });

  it('fails its own row among those that a query found', async () => {
    // The entries' own table is not the damaged one.
    expect(shardOfValue('Lisbon', 'string', SHARDS)).not.toBe(0);
    const { entries } = await trips.query({
      index: 'city_index',
      where: { city: 'Lisbon' },
      columns: ['BASE'],
    });
    expect(entries).toHaveLength(SHARDS);
    for (const { row_key, cells } of entries)
      expect(cells).toMatchObject(row_key === rows[0] ? { error: { code: 'unavailable' } } : [{ row_key }]);
  });
});

describe("an index's table that no node can read", () => {
  it('fails its own queries, not those that share a statement with them', async () => {
    const query = (city: string) => trips.query({ index: 'city_index', where: { city }, batched: true });
    const shardOf = (city: string) => shardOfValue(city, 'string', SHARDS);
    const shard = shardOf('Lisbon');
    const other =
      Array.from({ length: 1000 }, (_, position) => `city ${position}`).find(
        (city) => groupOf(shardOf(city)) === groupOf(shard) && shardOf(city) !== shard,
      ) ?? '';
    damaged.set('writer', new Set([shard])).set('reader', new Set([shard]));
    const answers = await Promise.all(
      [other, other, 'Lisbon', other].map((city) => query(city).catch((error: unknown) => error)),
    );
    expect(answers).toMatchObject([{ entries: [] }, { entries: [] }, { code: 'unavailable' }, { entries: [] }]);
  });
});

describe.skipIf(WRITER_ONLY)('a table that one node cannot read', () => {
  it.each(['writer', 'reader'] as const)('is read from the other, where it is the %s', async (role) => {
    damaged.set(role, new Set([0]));
    const other = role === 'writer' ? 'reader' : 'writer';
    const served = { served_by: other, stale: other === 'reader' };
    const [row_key = ''] = rows;
    await expect
      .poll(async () => (await trips.get(cellOf({ row_key }), { read: role })).cell)
      .toMatchObject({ row_key });
    expect(await trips.get(cellOf({ row_key }), { read: role })).toMatchObject(served);
    for (const list of [
      await trips.versions(cellOf({ row_key }), { read: role }),
      await trips.row(row_key, { read: role }),
    ])
      expect(list).toMatchObject({ cells: [{ row_key }], ...served });
    const items = await trips.batchGet(keys, { read: role });
    expect(items[0]).toMatchObject({ row_key, ...served });
    for (const item of items.slice(1)) expect(item).toMatchObject({ served_by: role, stale: role === 'reader' });
    const logs = await trips.log(locations, { read: role });
    expect(logs[0]).toMatchObject({ cells: [{ row_key }], ...served });
    for (const log of logs.slice(1)) expect(log).toMatchObject({ served_by: role });
    expect((await trips.heads({ read: role })).map((head) => !head.error && head.head)).toEqual(rows.map(() => 1));
  });
});

describe('without a damaged table', () => {
  it.each([
    ['a batch', () => trips.batchGet(keys)],
    ['look-ups that come together', async () => (await lookedUp(trips, keys)).map((one) => Object(one).cell)],
  ])('%s take one statement of each group', async (_what, read) => {
    statements = 0;
    expect(await read()).toMatchObject(rows.map((row_key) => ({ row_key })));
    expect(statements).toBe(store.groups.length);
  });

  it('what is wrong with the request itself stays so', async () => {
    expect((await errorOf(() => trips.batchGet([{ row_key: 'x', column_name: 'BASE' }]))).code).toBe('invalid_field');
  });
});
