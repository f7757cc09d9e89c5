import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import type { SqlClient, Statement, Target } from '../../../shared/sql/client.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { cellOf, errorOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';

const SHARDS = 12;
const INDEX: IndexDefinition = {
  name: 'city_index',
  fields: [{ field: 'city', type: 'string', column_key: 'BASE' }],
  keys: [],
};

let store: RealStore;
let trips: Datastore;
/** Row keys, one of each shard. */
let rows: string[];
/** Where the tables of which shards cannot be read. */
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

const databaseOf = (shard: number): string => `\`${store.nameOf('trips')}_${String(shard).padStart(4, '0')}\`.`;

beforeAll(async () => {
  store = await openRealStore({ datastores: { trips: SHARDS }, indexes: { trips: [INDEX] }, bufferCopies: 0, wrap });
  trips = await store.deployment.datastore(store.nameOf('trips'));
  rows = Array.from({ length: SHARDS }, (_, shard) => rowsOfShard(shard, SHARDS, 1)[0] ?? '');
  for (const row_key of rows) await trips.put(cellOf({ row_key, body: { city: 'Lisbon' } }));
});

beforeEach(() => damaged.clear());
afterAll(() => store.close());

const keysOf = (): { readonly row_key: string; readonly column_name: string }[] =>
  rows.map((row_key) => ({ row_key, column_name: 'BASE' }));
const locations = (): { readonly shard: number; readonly after: number }[] =>
  rows.map((_, shard) => ({ shard, after: 0 }));
/** Another shard of the group that holds shard 0. */
async function neighbour(): Promise<number> {
  const places = (await store.topology.datastore(store.nameOf('trips')))?.places ?? [];
  return places.findIndex(({ group }, shard) => shard > 0 && group === places[0]?.group);
}

describe('a table that no node can read', () => {
  beforeEach(() => {
    damaged.set('writer', new Set([0]));
    damaged.set('reader', new Set([0]));
  });

  it('fails its own item of a batch, not those of the shards that are asked with it', async () => {
    const items = await trips.batchGet(keysOf());
    expect(items[0]).toMatchObject({
      error: { code: 'unavailable', details: { more: { group: expect.any(String) } } },
    });
    expect(items.slice(1)).toEqual(rows.slice(1).map((row_key) => expect.objectContaining({ row_key })));
  });

  it('fails its own log and head, also where places are looked up by time', async () => {
    const logs = await trips.log(locations());
    expect(logs[0]).toMatchObject({ shard: 0, error: { code: 'unavailable' } });
    expect(logs.slice(1).map((log) => !log.error && log.cells.length)).toEqual(rows.slice(1).map(() => 1));
    const since = await trips.log(rows.map((_, shard) => ({ shard, since: '2026-01-01T00:00:00Z' })));
    expect(since[0]).toMatchObject({ shard: 0, error: { code: 'unavailable' } });
    expect(since.slice(1).map((log) => !log.error && log.cells.length)).toEqual(rows.slice(1).map(() => 1));
    const heads = await trips.heads();
    expect(heads[0]).toMatchObject({ shard: 0, group: expect.any(String), error: { code: 'unavailable' } });
    expect(heads.slice(1).map((head) => !head.error && head.head)).toEqual(rows.slice(1).map(() => 1));
  });

  it('fails its own look-up among those that share a statement', async () => {
    const shard = await neighbour();
    const found = await Promise.all(
      [shard, 0, shard, 0, shard].map((one) =>
        trips.getLatest({ row_key: rows[one] ?? '', column_name: 'BASE' }).catch((error: unknown) => error),
      ),
    );
    expect(found).toMatchObject([
      { cell: {} },
      { code: 'unavailable' },
      { cell: {} },
      { code: 'unavailable' },
      { cell: {} },
    ]);
  });

  it('fails its own row among those that a query found', async () => {
    const where = [{ field: 'city', operator: 'eq', values: ['Lisbon'] }] as const;
    // The entries' own table is not the damaged one.
    expect(shardOfValue('Lisbon', 'string', SHARDS)).not.toBe(0);
    const { entries } = await trips.query({ index: 'city_index', where, columns: ['BASE'] });
    expect(entries).toHaveLength(SHARDS);
    for (const { row_key, cells } of entries)
      expect(cells).toMatchObject(row_key === rows[0] ? { error: { code: 'unavailable' } } : [{ row_key }]);
  });
});

describe("an index's table that no node can read", () => {
  it('fails its own queries, not those that share a statement with them', async () => {
    const query = (city: string) =>
      trips.query({ index: 'city_index', where: [{ field: 'city', operator: 'eq', values: [city] }], together: true });
    // Of the same group, and of another shard.
    const places = (await store.topology.datastore(store.nameOf('trips')))?.places ?? [];
    const groupOf = (city: string) => places[shardOfValue(city, 'string', SHARDS)]?.group;
    const shard = shardOfValue('Lisbon', 'string', SHARDS);
    const other =
      Array.from({ length: 1000 }, (_, place) => `city ${place}`).find(
        (city) => groupOf(city) === groupOf('Lisbon') && shardOfValue(city, 'string', SHARDS) !== shard,
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
    // What a reader answers may be behind.
    await expect
      .poll(async () => (await trips.get(cellOf({ row_key }), { read: role })).cell)
      .toMatchObject({ row_key });
    expect(await trips.get(cellOf({ row_key }), { read: role })).toMatchObject(served);
    expect(await trips.versions(cellOf({ row_key }), { read: role })).toMatchObject({
      cells: [{ row_key }],
      ...served,
    });
    expect(await trips.row(row_key, { read: role })).toMatchObject({ cells: [{ row_key }], ...served });
    const items = await trips.batchGet(keysOf(), { read: role });
    expect(items[0]).toMatchObject({ row_key, ...served });
    // The others are those of who was asked.
    for (const item of items.slice(1)) expect(item).toMatchObject({ served_by: role, stale: role === 'reader' });
    const logs = await trips.log(locations(), { read: role });
    expect(logs[0]).toMatchObject({ cells: [{ row_key }], ...served });
    for (const log of logs.slice(1)) expect(log).toMatchObject({ served_by: role });
    expect((await trips.heads({ read: role })).map((head) => !head.error && head.head)).toEqual(rows.map(() => 1));
  });
});

describe('without a damaged table', () => {
  it('a batch is read with one statement a group, as before', async () => {
    statements = 0;
    await trips.batchGet(keysOf());
    const groups = new Set((await store.topology.datastore(store.nameOf('trips')))?.places.map(({ group }) => group));
    expect(statements).toBe(groups.size);
  });

  it('what is wrong with the request itself stays so', async () => {
    expect((await errorOf(() => trips.batchGet([{ row_key: 'x', column_name: 'BASE' }]))).code).toBe('invalid_field');
  });
});
