import { randomUUID } from 'node:crypto';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  defineDatastore,
  type BodyInput,
  type ColumnOf,
  type DatastoreDefinition,
  type IndexOf,
  type MessageOf,
  type NewCellOf,
  type QueryOf,
} from '../../../shared/client/datastore-definition.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { queryAll } from '../../../shared/client/pages.ts';
import { putAll } from '../../../shared/client/put-all.ts';
import { tail } from '../../../shared/client/tail.ts';
import { openDatastore, type OpenedDatastore, type OpenOptions } from '../../../shared/client/open-datastore.ts';
import { fakeDeployment } from '../../functions/support/fake-deployment.ts';
import { gateway, gatewayFetch } from '../../functions/support/gateway.ts';

const trips = defineDatastore({
  name: 'trips',
  columns: {
    BASE: z.object({
      driver_partner_uuid: z.uuid(),
      city_uuid: z.uuid().optional(),
      fare: z.object({ total: z.number() }),
      stops: z.array(z.object({ at: z.string() })).default([]),
    }),
    STATUS: z.enum(['billed', 'declined']),
  },
  indexes: {
    driver_partner_index: {
      shardOn: { driver_partner_uuid: 'UUID' },
      fields: { city_uuid: 'UUID', trip_created_at: 'datetime', 'fare.total': 'number' },
    },
    city_index: { shardOn: { city_uuid: 'UUID' } },
  },
  triggers: { bill_rider: { columns: ['BASE'] } },
});

function opened(options: Partial<OpenOptions> = {}) {
  const fetch = gatewayFetch(gateway(fakeDeployment()));
  return openDatastore(trips, { url: 'http://store.test', fetch, attempts: 1, ...options });
}

const row_key = randomUUID();
const driver_partner_uuid = randomUUID();
const BASE = { driver_partner_uuid, fare: { total: 12.5 } };

describe('a datastore that is declared', () => {
  it('gives cells the types of their columns, and writes what the validator gives', async () => {
    const store = opened();
    const stored = { outcome: 'stored', ref_key: 0 };
    expect(await store.put({ row_key, column_name: 'BASE', body: BASE })).toMatchObject(stored);
    await store.put({ row_key, column_name: 'STATUS', ref_key: 4, body: 'billed' });
    const { cell } = await store.get({ row_key, column_name: 'BASE', ref_key: 0 });
    expect(cell?.body).toEqual({ ...BASE, stops: [] });
    expectTypeOf(cell?.body.fare.total).toEqualTypeOf<number | undefined>();
    expectTypeOf(cell?.body.stops).toEqualTypeOf<{ at: string }[] | undefined>();
    const status = (await store.getLatest({ row_key, column_name: 'STATUS' })).cell;
    expectTypeOf(status?.body).toEqualTypeOf<'billed' | 'declined' | undefined>();
    for (const one of (await store.row(row_key)).cells) {
      if (one.column_name === 'STATUS') expectTypeOf(one.body).toEqualTypeOf<'billed' | 'declined'>();
      else expectTypeOf(one.body.fare).toEqualTypeOf<{ total: number }>();
    }
    const refused = store
      .transaction(row_key)
      .put('STATUS', 5, 'unknown' as 'billed')
      .put('BASE', 1, BASE);
    await expect(refused.commit()).rejects.toMatchObject({ code: 'invalid_body' });
    const both = store.transaction(row_key).put('BASE', 1, BASE).put('STATUS', 5, 'declined').ifLatest('BASE', 0);
    expect((await both.commit()).outcome).toBe('stored');
    expect((await store.get({ row_key, column_name: 'BASE', ref_key: 1 })).cell?.body.stops).toEqual([]);
    const late = store.transaction(row_key).put('STATUS', 6, 'billed').ifLatest('BASE', 0);
    await expect(late.commit()).rejects.toMatchObject({ code: 'condition_failed', status: 409 });
    expect(await late.tryCommit()).toMatchObject({ outcome: 'condition_failed', failed: [{ wanted: 0 }] });
    const [, billed] = (await store.versions({ row_key, column_name: 'STATUS' })).cells;
    expect(billed).toMatchObject({ ref_key: 4, body: 'billed' });
  });

  it('refuses a body that does not fit, by its place, before anything is sent', async () => {
    const store = opened({ fetch: () => Promise.reject(new Error('sent')) });
    const body = { driver_partner_uuid, fare: { total: 12.5 }, stops: [{ at: 'a' }, { at: 7 as unknown as string }] };
    await expect(store.put({ row_key, column_name: 'BASE', ref_key: 0, body })).rejects.toMatchObject({
      code: 'invalid_body',
      status: 400,
      field: 'body.stops[1].at',
      got: '7',
      wanted: expect.stringContaining('string'),
    });
  });

  it('validates bodies on reads only if configured', async () => {
    const deployment = fakeDeployment();
    await deployment.trips.put({ row_key, column_name: 'STATUS', ref_key: 0, body: 'lost' });
    const fetch = gatewayFetch(gateway(deployment));
    const key = { row_key, column_name: 'STATUS' } as const;
    expect((await opened({ fetch }).getLatest(key)).cell?.body).toBe('lost');
    const strict = opened({ fetch, validateReads: true });
    await expect(strict.getLatest(key)).rejects.toMatchObject({ code: 'invalid_body', got: '"lost"' });
    const [listed] = (await strict.row(row_key)).cells;
    expect(listed).toMatchObject({ body: null, error: { code: 'invalid_body' } });
  });

  it('finds rows by typed conditions, with the fields that were asked for', async () => {
    const asked: string[] = [];
    const answer = {
      entries: [{ row_key, fields: { 'fare.total': 3 } }],
      next: null,
      served_by: 'writer',
      stale: false,
    };
    const fetch = async (url: unknown): Promise<Response> => {
      asked.push(decodeURIComponent(String(url).split('?')[1] ?? ''));
      return Response.json(answer);
    };
    const { entries } = await opened({ fetch }).query('driver_partner_index', {
      where: {
        driver_partner_uuid,
        trip_created_at: { gte: '2026-01-01T00:00:00Z', lt: '2026-02-01T00:00:00Z' },
        city_uuid: { in: ['a', 'b'] },
      },
      fields: ['fare.total'],
      order: '-trip_created_at',
    });
    expect(asked).toEqual([
      `driver_partner_uuid=${driver_partner_uuid}&trip_created_at[gte]=2026-01-01T00:00:00Z&trip_created_at[lt]=2026-02-01T00:00:00Z&city_uuid[in]=a&city_uuid[in]=b&fields=fare.total&order=-trip_created_at&limit=100`,
    ]);
    expectTypeOf(entries[0]?.fields).toEqualTypeOf<{ readonly 'fare.total': number | null } | undefined>();
    expect(entries[0]?.fields['fare.total']).toBe(3);
  });

  it('writes, reads and counts many, each with the types and checks of its column', async () => {
    const store = opened();
    const keys = Array.from({ length: 150 }, () => ({ row_key: randomUUID(), column_name: 'BASE' as const }));
    const cells = keys.map((key) => ({ ...key, ref_key: 0, body: BASE }));
    expect(await store.putAll(cells)).toMatchObject({ stored: 150 });
    const bodies = (await store.getAll(keys)).map((item) => item && 'body' in item && item.body);
    expect(bodies).toEqual(cells.map(() => ({ ...BASE, stops: [] })));
    const [first] = await store.batchGet([...keys.slice(0, 1), { row_key, column_name: 'STATUS' }]);
    if (first?.row_key !== undefined && first.column_name === 'BASE')
      expectTypeOf(first.body.fare).toEqualTypeOf<{ total: number }>();
    const wrong = { ...cells[0], row_key, fare: 'garbage', body: { fare: 'garbage' } } as never;
    const refused = store.putAll([...cells.slice(0, 2), wrong]);
    await expect(refused).rejects.toMatchObject({
      name: 'PutAllError',
      code: 'invalid_body',
      result: { stored_before: 2, undone: [{ position: 2 }] },
    });
    expect((await store.getLatest({ row_key, column_name: 'BASE' })).cell).toBeNull();
    const { undone } = await store.tryPutAll([wrong]);
    expect(undone).toMatchObject([{ error: { code: 'invalid_body', field: 'body.driver_partner_uuid' } }]);
    // A cell comes back as it was given, or it would be validated twice.
    const away = opened({ fetch: () => Promise.reject(new Error('away')) });
    const left = await away.tryPutAll(cells.slice(0, 1), { tries: 1 });
    expect(left.undone).toMatchObject([{ cell: { body: BASE }, error: { code: 'unavailable' } }]);
    expect(left.undone[0]?.cell.body).not.toHaveProperty('stops');
    expect(JSON.stringify(await refused.catch((error: unknown) => error))).not.toContain('garbage');
    await expect(store.getAll([{ row_key, column_name: 'BASIS' as 'BASE' }])).rejects.toThrow('column_name: wanted');
  });

  it('follows the pages of a query, counts it, and takes limits for its calls', async () => {
    const answers = [
      { entries: [{ row_key, fields: {} }], next: 'a' },
      { entries: [{ row_key: driver_partner_uuid, fields: {} }], next: null },
      { count: 2, complete: true },
    ];
    const store = opened({
      fetch: async () => Response.json({ ...answers.shift(), served_by: 'writer', stale: false }),
    });
    const query = { where: { driver_partner_uuid } };
    const found = await Array.fromAsync(store.queryAll('driver_partner_index', query), (entry) => entry.row_key);
    expect(found).toEqual([row_key, driver_partner_uuid]);
    expect(await store.count('driver_partner_index', query)).toMatchObject({ count: 2, complete: true });
    const over = store.with({ signal: AbortSignal.abort() });
    await expect(over.getLatest({ row_key, column_name: 'BASE' })).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('says what to do where a client is wanted', async () => {
    const store = opened() as never;
    const told = (name: string) => `${name}: wanted a client, got an opened datastore: call store.${name}(…)`;
    await expect(putAll(store, [])).rejects.toThrow(told('putAll'));
    await expect(getAll(store, [])).rejects.toThrow(told('getAll'));
    await expect(queryAll(store, { index: 'a', where: {} }).next()).rejects.toThrow(told('queryAll'));
    await expect(tail(store).next()).rejects.toThrow(told('tail'));
  });

  it('tails the columns that are declared', async () => {
    const store = opened();
    await store.put({ row_key, column_name: 'BASE', body: BASE });
    await store.client.put({ row_key, column_name: 'NOTES', body: 'not declared' });
    await store.put({ row_key, column_name: 'STATUS', body: 'declined' });
    const columns = await Array.fromAsync(store.tail({ from: 'start', follow: false }), ({ cell }) => cell.column_name);
    expect(columns).toEqual(['BASE', 'STATUS']);
  });

  it('tails erasures of columns that are declared as they are, though reads are validated', async () => {
    const erasure = { id: 'an id', scope: 'column', reason: 'request 4711' } as const;
    const cell = { row_key, ref_key: 2 ** 53 - 1, body: null, shard: 0, created_at: '2026-01-31T08:00:00.000000Z' };
    const cells = [
      { ...cell, column_name: 'STATUS', added_id: 1, erasure },
      { ...cell, column_name: '', added_id: 2, erasure: { ...erasure, scope: 'row' as const } },
    ];
    const log = [{ shard: 0, cells, next: 2, more: false, served_by: 'writer', stale: false } as const];
    const fetch = gatewayFetch(gateway(fakeDeployment({ log: async () => log })));
    const tailed = opened({ fetch, validateReads: true }).tail({ shards: [0], from: 'start', follow: false });
    expect(await Array.fromAsync(tailed, (one) => one.cell)).toEqual(cells.slice(0, 1));
  });

  it('is refused where the compiler did not check', async () => {
    const key = { row_key, column_name: 'BASIS' as 'BASE' };
    await expect(opened().getLatest(key)).rejects.toMatchObject({ code: 'invalid_field', field: 'column_name' });
  });
});

/** Never called: that it compiles is the test. */
export async function rightlySpelt(): Promise<void> {
  const store = opened();
  await store.query('driver_partner_index', { where: { driver_partner_uuid: { eq: driver_partner_uuid } } });
  const query: QueryOf<typeof trips, 'city_index'> = { where: { city_uuid: 'x' } };
  await store.query('city_index', query);
  // One of several indexes takes what each of them takes.
  const index = 'city_index' as IndexOf<typeof trips>;
  await store.query(index, { where: { driver_partner_uuid, city_uuid: 'x' } });
  // One of several cells has the body of its own column.
  const cell = { row_key, column_name: 'STATUS', body: 'billed' } as NewCellOf<typeof trips>;
  await store.put(cell);
  await store.put({ row_key, ...(row_key === driver_partner_uuid ? BASE_CELL : STATUS_CELL) });
  // Undeclared names have no types.
  await store.client.query({ index: 'notes', where: { author: { gt: 'a' } } });
  const untyped = openDatastore(trips as DatastoreDefinition, { url: '' });
  await untyped.query('notes', { where: { author: { gt: 'a' }, stars: 5 }, fields: ['stars'], order: '-stars' });
  await untyped.put({ row_key, column_name: 'NOTE', body: 7 });
  openDatastore(defineDatastore(trips as DatastoreDefinition), { url: '' });
}
const BASE_CELL = { column_name: 'BASE', body: BASE } as const;
const STATUS_CELL = { column_name: 'STATUS', body: 'billed' } as const;

/** The same over any column, and over any definition. */
export async function overColumns<Column extends ColumnOf<typeof trips>>(
  column_name: Column,
  body: BodyInput<typeof trips, Column>,
): Promise<void> {
  await opened().put({ row_key, column_name, body });
}
export async function overAny<D extends DatastoreDefinition, Column extends ColumnOf<D>, Index extends IndexOf<D>>(
  store: OpenedDatastore<D>,
  [column_name, body]: readonly [Column, BodyInput<D, Column>],
  [index, query]: readonly [Index, QueryOf<D, Index>],
): Promise<void> {
  await store.put({ row_key, column_name, body });
  await store.query(index, query);
}

/** Never called: what does not compile is the test. */
export async function misspelt(): Promise<void> {
  const store = opened();
  // @ts-expect-error -- a column that is not declared
  await store.getLatest({ row_key, column_name: 'BASIS' });
  // @ts-expect-error -- a field of the body is misspelt
  await store.put({ row_key, column_name: 'BASE', body: { driver_partner_uid: '', fare: { total: 1 } } });
  // @ts-expect-error -- the body of another column
  await store.put({ row_key, column_name: 'STATUS', body: BASE });
  // @ts-expect-error -- no such value
  await store.put({ row_key, column_name: 'STATUS', body: 'payed' });
  // @ts-expect-error -- a store where a client is wanted
  await putAll(store, []);
  // @ts-expect-error -- the body of another column
  await store.putAll([{ row_key, column_name: 'STATUS', ref_key: 0, body: BASE }]);
  // @ts-expect-error -- a condition of another type
  await store.count('driver_partner_index', { where: { driver_partner_uuid: 7 } });
  // @ts-expect-error -- no such index
  await store.query('driver_index', { where: { driver_partner_uuid } });
  // @ts-expect-error -- no such field
  await store.query('driver_partner_index', { where: { driver_partner_uuid, city: 'x' } });
  // @ts-expect-error -- no such operator
  await store.query('driver_partner_index', { where: { driver_partner_uuid: { like: 'x' } } });
  // @ts-expect-error -- a number is compared with a number
  await store.query('driver_partner_index', { where: { driver_partner_uuid, 'fare.total': { gt: 'x' } } });
  // @ts-expect-error -- no such field to answer
  await store.query('driver_partner_index', { where: { driver_partner_uuid }, fields: ['fare'] });
  // @ts-expect-error -- no such field to order by
  await store.query('driver_partner_index', { where: { driver_partner_uuid }, order: '-created' });
  // @ts-expect-error -- no such column to bring along
  await store.query('driver_partner_index', { where: { driver_partner_uuid }, columns: ['BASIS'] });
  // @ts-expect-error -- the body of one of two columns
  await store.put({ row_key, column_name: 'BASE' as ColumnOf<typeof trips>, body: 'billed' });
  // @ts-expect-error -- a ref key is a number
  await store.put({ row_key, column_name: 'STATUS', ref_key: '4', body: 'billed' });
  // @ts-expect-error -- no such column of a row
  await store.row(row_key, { columns: ['BASIS'] });
  const message = {} as MessageOf<typeof trips, 'bill_rider'>;
  expectTypeOf(message.column_name).toEqualTypeOf<'BASE'>();
  expectTypeOf(message.trigger).toEqualTypeOf<'bill_rider'>();
  // @ts-expect-error -- no such trigger
  expectTypeOf<MessageOf<typeof trips, 'bill_driver'>>();
}

/** Never called: a query without its shard field does not compile. */
export async function withoutShard(): Promise<void> {
  const store = opened();
  // @ts-expect-error -- the shard field is wanted
  await store.query('driver_partner_index', { where: { city_uuid: 'x' } });
  // @ts-expect-error -- and without any condition, too
  await store.query('driver_partner_index', { where: {} });
  // @ts-expect-error -- it has a value
  await store.query('driver_partner_index', { where: { driver_partner_uuid: undefined as string | undefined } });
  // @ts-expect-error -- one value
  await store.query('driver_partner_index', { where: { driver_partner_uuid: { in: ['x', 'y'] } } });
  // @ts-expect-error -- by equality
  await store.query('driver_partner_index', { where: { driver_partner_uuid: { gte: 'x' } } });
  // @ts-expect-error -- alone
  await store.query('driver_partner_index', { where: { driver_partner_uuid: { eq: 'x', ne: 'y' } } });
  // @ts-expect-error -- that of each of two indexes
  await store.query('city_index' as IndexOf<typeof trips>, { where: { city_uuid: 'x' } });
  // @ts-expect-error -- in a query that is kept, too
  const query: QueryOf<typeof trips, 'driver_partner_index'> = { where: { city_uuid: 'x' } };
  await store.query('driver_partner_index', query);
}

/** Never called: what is declared wrongly does not compile. */
export function misdeclared(): void {
  const x = { name: 'x', columns: { BASE: z.string() } } as const;
  // @ts-expect-error -- a trigger over a column that is not declared
  defineDatastore({ ...x, triggers: { t: { columns: ['BASIS'] } } });
  // @ts-expect-error -- an index without its shard field
  defineDatastore({ ...x, indexes: { i: { fields: { a: 'string', b: 'string' } } } });
  // @ts-expect-error -- with none
  defineDatastore({ ...x, indexes: { i: { shardOn: {}, fields: { a: 'string' } } } });
  // @ts-expect-error -- with two
  defineDatastore({ ...x, indexes: { i: { shardOn: { a: 'string', b: 'string' } } } });
  // @ts-expect-error -- fields
  defineDatastore({ ...x, indexes: { i: { shardOn: { a: 'string' }, field: { b: 'string' } } } });
  // @ts-expect-error -- indexes
  defineDatastore({ ...x, index: { i: { shardOn: { a: 'string' } } } });
  // @ts-expect-error -- triggers
  defineDatastore({ ...x, trigers: { t: { columns: ['BASE'] } } });
  // @ts-expect-error -- the YAML says where a trigger begins
  defineDatastore({ ...x, triggers: { t: { columns: ['BASE'], start: 'now' } } });
}
