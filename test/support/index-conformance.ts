import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../shared/cell.ts';
import type { IndexDefinition } from '../../shared/definitions/definitions.ts';
import type { IndexCount, IndexQuery } from '../../shared/contract/index-query.ts';
import type { Where } from '../../shared/where.ts';
import { SchemalessError } from '../../shared/errors.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { cellOf, errorOf } from './datastore-conformance.ts';
import { type FieldValue, shardOfValue } from '../../shared/definitions/field-value.ts';
import { PATIENCE_MS } from './until.ts';

/** Indexes that the suite expects on the datastore: fields of two columns, every type, a path, and combined keys. */
export const SUITE_INDEXES: readonly IndexDefinition[] = [
  {
    name: 'driver_index',
    fields: [
      { field: 'driver_uuid', type: 'UUID', column_key: 'BASE' },
      { field: 'city', type: 'string', column_key: 'BASE' },
      { field: 'created_at', type: 'datetime', column_key: 'BASE' },
      { field: 'fare.total', type: 'number', column_key: 'BASE' },
      { field: 'riders', type: 'integer', column_key: 'BASE' },
      { field: 'is_completed', type: 'boolean', column_key: 'STATUS' },
    ],
    keys: [['city', 'created_at']],
  },
  {
    name: 'zone_index',
    fields: [
      { field: 'zone', type: 'integer', column_key: 'BASE' },
      { field: 'rider', type: 'UUID', column_key: 'BASE' },
    ],
    keys: [],
  },
  { name: 'plate_index', fields: [{ field: 'plate', type: 'string', column_key: 'BASE' }], keys: [] },
  { name: 'day_index', fields: [{ field: 'created_at', type: 'datetime', column_key: 'BASE' }], keys: [] },
];

type Open = () => Promise<Datastore>;

/** The contract of indexes. Every implementation passes all of it. */
export function describeIndexes(label: string, open: Open): void {
  describe(`${label}: indexes`, async () => {
    const store = await open();
    entries(store);
    queries(store);
    counts(store);
    pages(store);
    refusals(store);
  });
}

const ofDriver = (driver_uuid: string, where: Where = {}, more: Partial<IndexQuery> = {}): IndexQuery => ({
  index: 'driver_index',
  where: { driver_uuid, ...where },
  ...more,
});
const rowsOf = async (store: Datastore, query: IndexQuery): Promise<string[]> =>
  (await store.query(query)).entries.map(({ row_key }) => row_key);

/**
 * How long an entry may take that missed the deadline of its write, as on a machine with much else to do: the repair
 * brings it.
 */
const SOON = { timeout: PATIENCE_MS };

/** Puts trips of a new driver, waits until the index shows them, and answers its row keys in order, and the first. */
async function tripsOf(store: Datastore, bodies: readonly Record<string, Json>[]) {
  const driver = randomUUID();
  const cells = bodies.map((body) => cellOf({ body: { driver_uuid: driver, ...body } }));
  const rows = cells.map(({ row_key }) => row_key);
  for (let start = 0; start < cells.length; start += 100) await store.batchPut(cells.slice(start, start + 100));
  await expect.poll(() => rowsOf(store, ofDriver(driver)), SOON).toHaveLength(rows.length);
  return { driver, rows, row_key: rows[0] ?? '' };
}

function entries(store: Datastore): void {
  it('show a row once it is written, with its fields, and its cells where columns are asked for', async () => {
    const body = { city: 'Lisbon', created_at: '2026-03-04T05:06:07.123456+01:00', fare: { total: 12.5 }, riders: 2 };
    const { driver, row_key } = await tripsOf(store, [body]);
    await store.put(cellOf({ row_key, column_name: 'STATUS', ref_key: 3, body: { is_completed: true } }));
    await expect.poll(() => rowsOf(store, ofDriver(driver, { is_completed: true })), SOON).toEqual([row_key]);
    const answer = await store.query(ofDriver(driver, {}, { columns: ['STATUS'] }));
    expect(answer).toMatchObject({ next: null, served_by: 'writer', stale: false });
    expect(answer.entries).toHaveLength(1);
    expect(answer.entries[0]).toMatchObject({
      row_key,
      fields: {
        driver_uuid: driver,
        city: 'Lisbon',
        created_at: '2026-03-04T04:06:07.123456Z',
        'fare.total': 12.5,
        riders: 2,
        is_completed: true,
      },
      cells: [{ column_name: 'STATUS', ref_key: 3, body: { is_completed: true } }],
    });
    const all = await store.query(ofDriver(driver.toUpperCase(), {}, { columns: '*', fields: ['city'] }));
    expect(all.entries[0]?.fields).toEqual({ city: 'Lisbon' });
    const { cells = [] } = all.entries[0] ?? {};
    expect('error' in cells ? cells.error : cells.map(({ column_name }) => column_name)).toEqual(['BASE', 'STATUS']);
  });

  it('follow the latest cell, whatever order cells come in', async () => {
    const { driver, row_key } = await tripsOf(store, [{ city: 'Lisbon' }]);
    const put = (ref_key: number, city: string) =>
      store.put(cellOf({ row_key, ref_key, body: { driver_uuid: driver, city } }));
    await put(5, 'Porto');
    await put(3, 'Faro');
    const cities = async () => (await store.query(ofDriver(driver))).entries.map(({ fields }) => fields['city']);
    await expect.poll(cities, SOON).toEqual(['Porto']);
    expect(await rowsOf(store, ofDriver(driver, { city: 'Lisbon' }))).toEqual([]);
  });

  it('move a row whose shard field changes, and drop one whose shard field vanishes', async () => {
    const { driver: before, row_key } = await tripsOf(store, [{ city: 'Lisbon' }]);
    const after = randomUUID();
    const find = (driver: string) => rowsOf(store, ofDriver(driver));
    const both = async () => [await find(before), await find(after)];
    await store.put(cellOf({ row_key, ref_key: 2, body: { driver_uuid: after } }));
    await expect.poll(both, SOON).toEqual([[], [row_key]]);
    await store.put(cellOf({ row_key, ref_key: 3, body: { city: 'Lisbon' } }));
    await expect.poll(both, SOON).toEqual([[], []]);
    await store.put(cellOf({ row_key, ref_key: 4, body: { driver_uuid: before } }));
    await expect.poll(both, SOON).toEqual([[row_key], []]);
  });

  it('take missing, null and mistyped fields for absent, and bodies that are no objects for empty', async () => {
    const odd: Record<string, Json>[] = [
      {},
      { city: null },
      { city: 7, riders: 'two', created_at: 'yesterday', fare: [1] },
      { city: 'x'.repeat(256), riders: 1.5, created_at: '2026-01-01T00:00:00' },
    ];
    const { driver } = await tripsOf(store, odd);
    const answer = await store.query(ofDriver(driver));
    expect(answer.entries).toHaveLength(odd.length);
    for (const { fields } of answer.entries)
      expect(fields).toEqual({
        driver_uuid: driver,
        city: null,
        created_at: null,
        'fare.total': null,
        riders: null,
        is_completed: null,
      });
    for (const body of ['text', 7, null, [1], { driver_uuid: 'no uuid' }, { driver_uuid: null }] as Json[])
      expect((await store.put(cellOf({ body }))).outcome).toBe('stored');
  });

  it('have no entry for a row whose column with the shard field is not written yet, and one as soon as it is', async () => {
    const row_key = randomUUID();
    const driver = randomUUID();
    await store.put(cellOf({ row_key, column_name: 'STATUS', body: { is_completed: false } }));
    await store.put(cellOf({ row_key, body: { driver_uuid: driver } }));
    const states = async () =>
      (await store.query(ofDriver(driver))).entries.map(({ fields }) => fields['is_completed']);
    await expect.poll(states, SOON).toEqual([false]);
  });

  it('are kept under shard fields of every type that may be one', async () => {
    const zone = Math.floor(Math.random() * 2 ** 50);
    const plate = `MÜ ${zone}`;
    const created_at = new Date(zone % 4_000_000_000_000).toISOString();
    const row_key = randomUUID();
    await store.put(cellOf({ row_key, body: { zone, plate, created_at } }));
    for (const [index, field] of [
      ['zone_index', { zone }],
      ['plate_index', { plate }],
      ['day_index', { created_at }],
    ] as const)
      await expect.poll(() => rowsOf(store, { index, where: { ...field } }), SOON).toEqual([row_key]);
    expect(shardOfValue(created_at.replace('Z', '000Z'), 'datetime', 64)).toBeLessThan(64);
  });
}

const CITIES = ['Faro', 'Lisbon', 'Porto', 'lisbon'];
function tripOf(position: number) {
  return {
    ...(position % 7 === 0 ? {} : { city: CITIES[position % 4] ?? '' }),
    created_at: `2026-01-${String(1 + (position % 28)).padStart(2, '0')}T00:00:00Z`,
    fare: { total: ((position * 37) % 50) - 10.5 },
    ...(position % 5 === 0 ? {} : { riders: position % 6 }),
  };
}
const tripsUpTo = (count: number) => Array.from({ length: count }, (_, position) => tripOf(position));

function queries(store: Datastore): void {
  it('answer every operator on every field as the values say, and absent fields never', async () => {
    const { driver, rows } = await tripsOf(store, tripsUpTo(40));
    const [day, end] = ['2026-01-10T00:00:00Z', '2026-01-12T01:00:00+01:00'];
    const cases: readonly (readonly [Where, (trip: ReturnType<typeof tripOf>) => boolean])[] = [
      [{ city: 'Lisbon' }, ({ city }) => city === 'Lisbon'],
      [{ city: { ne: 'Lisbon' } }, ({ city = 'Lisbon' }) => city !== 'Lisbon'],
      [{ city: { in: ['Faro', 'Porto', 'Nowhere'] } }, ({ city = '' }) => ['Faro', 'Porto'].includes(city)],
      [{ city: { lt: 'Porto' } }, ({ city = 'Porto' }) => city < 'Porto'],
      [{ 'fare.total': { gte: 0, lt: '20.5' } }, ({ fare: { total } }) => total >= 0 && total < 20.5],
      [{ 'fare.total': { gt: -0.5 } }, ({ fare: { total } }) => total > -0.5],
      [{ riders: { lte: '3', ne: 2 } }, ({ riders = 2 }) => riders <= 3 && riders !== 2],
      [
        { created_at: { gte: day, lte: end } },
        ({ created_at }) => created_at >= day && created_at <= '2026-01-12T00:00:00Z',
      ],
      [{ is_completed: true }, () => false],
    ];
    for (const [where, wanted] of cases) {
      const found = await rowsOf(store, ofDriver(driver, where));
      expect(found.sort(), JSON.stringify(where)).toEqual(rows.filter((_, at) => wanted(tripOf(at))).sort());
    }
  });

  it('order by any field, either way, absent ones first when ascending', async () => {
    const { driver } = await tripsOf(store, tripsUpTo(30));
    for (const field of ['city', 'created_at', 'fare.total', 'riders']) {
      for (const order of [field, `-${field}`]) {
        const { entries: found } = await store.query(ofDriver(driver, {}, { order }));
        const values = found.map(({ fields }) => fields[field] ?? null);
        const sorted = [...values].sort(byValue);
        expect(values, order).toEqual(order.startsWith('-') ? sorted.reverse() : sorted);
        expect(values).toHaveLength(30);
      }
    }
  });
}

function counts(store: Datastore): void {
  it('count what a query finds, as far as a limit, and say whether that is all', async () => {
    const { driver } = await tripsOf(store, tripsUpTo(40));
    const index = 'driver_index';
    for (const more of [{}, { city: 'Lisbon' }, { riders: { gte: 2 } }]) {
      const where = { driver_uuid: driver, ...more };
      const { length: count } = await rowsOf(store, { index, where });
      expect(await store.count({ index, where })).toMatchObject({ count, complete: true, stale: false });
      expect(await store.count({ index, where, limit: count })).toMatchObject({ count, complete: true });
      const less = { count: count - 1, complete: false };
      expect(await store.count({ index, where, limit: count - 1 })).toMatchObject(less);
    }
    expect(await store.count(ofDriver(randomUUID()))).toMatchObject({ count: 0, complete: true });
  });

  it('refuse to be counted as they refuse to be queried, and further than the limit', async () => {
    const where = { driver_uuid: randomUUID() };
    const code = async (query: IndexCount) => (await errorOf(() => store.count(query))).code;
    expect(await code({ index: 'nope', where })).toBe('unknown_index');
    expect(await code({ index: 'driver_index', where: { city: 'Lisbon' } })).toBe('missing_field');
    expect(await code({ index: 'driver_index', where: { ...where, nope: 1 } })).toBe('unknown_field');
    for (const limit of [0, 10_001, 1.5])
      expect(await errorOf(() => store.count({ index: 'driver_index', where, limit }))).toMatchObject({
        code: 'invalid_field',
        field: 'limit',
      });
  });
}

function byValue(a: FieldValue, b: FieldValue): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function pages(store: Datastore): void {
  it('come page by page, each row once, in every order, while rows are written', async () => {
    const { driver, rows } = await tripsOf(store, tripsUpTo(25));
    for (const order of [undefined, 'city', '-city', 'fare.total', '-riders']) {
      const seen: string[] = [];
      for (let after: string | undefined; ;) {
        const page = await store.query(ofDriver(driver, {}, { order, limit: 4, after }));
        expect(page.entries.length === 4 || page.next === null).toBe(true);
        seen.push(...page.entries.map(({ row_key }) => row_key));
        // New rows may show or not; they must not hide other rows, or repeat them.
        await store.put(cellOf({ body: { driver_uuid: driver, city: 'Aveiro', fare: { total: -99 }, riders: 99 } }));
        if (page.next === null) break;
        after = page.next;
      }
      expect(new Set(seen).size, order).toBe(seen.length);
      expect(
        rows.filter((row) => !seen.includes(row)),
        order,
      ).toEqual([]);
    }
  });

  it('end exactly at the limit: nowhere to go on where nothing is left', async () => {
    const { driver } = await tripsOf(store, [{}, {}, {}]);
    const ask = (limit: number) => store.query(ofDriver(driver, {}, { limit }));
    expect(await ask(3)).toMatchObject({ next: null, entries: { length: 3 } });
    expect((await ask(2)).next).not.toBeNull();
    expect((await store.query(ofDriver(randomUUID()))).entries).toEqual([]);
  });
}

/** Queries that are too long for the address of a request: of stores that are asked without HTTP. */
export function describeLongQueries(label: string, open: Open): void {
  it(`${label}: refuses a query of 1001 columns`, async () => {
    const columns = Array.from({ length: 1001 }, (_, position) => `COLUMN ${position}`);
    const store = await open();
    const error = await errorOf(() => store.query(ofDriver(randomUUID(), {}, { columns })));
    expect([error.code, error.details.field]).toEqual(['invalid_field', 'column']);
  });
}

function refusals(store: Datastore): void {
  const driver = randomUUID();
  const of = ofDriver.bind(undefined, driver);
  it.each<[string, IndexQuery, string, string]>([
    ['an unknown index', of({}, { index: 'nope' }), 'unknown_index', 'index'],
    ['no shard field', of({}, { where: { city: 'Lisbon' } }), 'missing_field', 'driver_uuid'],
    ['a range on the shard field', of({ driver_uuid: { eq: driver, gt: driver } }), 'invalid_field', 'driver_uuid'],
    ['a shard field of another type', of({ driver_uuid: 'seven' }), 'invalid_field', 'driver_uuid'],
    ['a field that the index has not', of({ colour: 'red' }), 'unknown_field', 'colour'],
    ['a value of another type', of({ riders: { gt: 'two' } }), 'invalid_field', 'riders[gt]'],
    ['an integer that a number would round', of({ 'fare.total': 2n ** 53n + 1n }), 'invalid_field', 'fare.total'],
    ['a number of no end', of({ 'fare.total': '9'.repeat(400) }), 'invalid_field', 'fare.total'],
    ['a fraction for an integer', of({ riders: '1.5' }), 'invalid_field', 'riders'],
    ['a time without zone', of({ created_at: { lt: '2026-01-01T00:00:00' } }), 'invalid_field', 'created_at[lt]'],
    ['in without values', of({ city: { in: [] } }), 'invalid_field', 'city[in]'],
    ['a limit of 0', of({}, { limit: 0 }), 'invalid_field', 'limit'],
    ['a place to go on after that is none', of({}, { after: 'nonsense' }), 'invalid_field', 'after'],
  ])('refuse %s', async (_what, query, code, field) => {
    const error = await errorOf(() => store.query(query));
    expect([error.code, error.details.field]).toEqual([code, field]);
  });

  it('refuse the place of another query', async () => {
    const { driver } = await tripsOf(store, [{}, {}, {}]);
    const { next } = await store.query(ofDriver(driver, {}, { limit: 1 }));
    const other = ofDriver(driver, {}, { limit: 1, order: 'city', after: next ?? '' });
    const error = await errorOf(() => store.query(other));
    expect(error.details.field).toBe('after');
  });

  it('refuse a place whose value is none of the type that they are ordered by', async () => {
    const { driver } = await tripsOf(store, tripsUpTo(4).slice(1));
    const others = [
      ['text', true, 1.5, 1e300, { integer: '1' }, { integer: '99999999999999999999' }, 'x'.repeat(256), '\ud800'],
      ['7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10', '2026-01-31T08:00:00Z', [], {}],
    ].flat();
    for (const order of [undefined, 'city', 'fare.total', '-riders', 'created_at', 'is_completed']) {
      const { next } = await store.query(ofDriver(driver, {}, { order, limit: 1 }));
      const [, ...rest] = JSON.parse(Buffer.from(next ?? '', 'base64url').toString()) as unknown[];
      const codes = await Promise.all(
        others.map((other) => {
          const after = Buffer.from(JSON.stringify([other, ...rest]).replace('1e+300', '1e999')).toString('base64url');
          // A value that fits is a valid position, even without an entry there.
          return store.query(ofDriver(driver, {}, { order, after })).then(() => 'found', codeOf);
        }),
      );
      expect(new Set(codes).difference(new Set(['found', 'invalid_field after'])), order).toEqual(new Set());
      expect(codes.filter((code) => code !== 'found').length, order).toBeGreaterThan(others.length / 2);
    }
  });
}

function codeOf(error: unknown): string {
  return error instanceof SchemalessError ? `${error.code} ${error.details.field}` : String(error);
}
