import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { IndexAnswer, IndexQuery } from '../../../shared/contract/index-query.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { fakeDeployment, SHARDS } from '../../functions/support/fake-deployment.ts';
import { errorOf } from '../../support/datastore-conformance.ts';
import { describeIndexes, SUITE_INDEXES } from '../../support/index-conformance.ts';
import type { Where } from '../../../shared/where.ts';
import { storeOf } from '../../support/store-of.ts';
import { clientOf, silentClient } from './opened.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const DRIVER = { driver_uuid: randomUUID() };
const NOTHING: IndexAnswer = { entries: [], next: null, served_by: 'writer', stale: false };

const client = (changes: Partial<Datastore> = {}, attempts = 1) => clientOf(fakeDeployment(changes), { attempts });

const all = client();
describeIndexes('the client of a reference store', async () => ({ ...storeOf(all), shards: SHARDS }));

describe('the indexes of a client', () => {
  it('are listed, and shown by name', async () => {
    expect((await all.listIndexes()).indexes.map(({ index }) => index)).toEqual(SUITE_INDEXES.map(({ name }) => name));
    expect(await all.getIndex('zone_index')).toMatchObject({ index: 'zone_index', state: 'live', lag: 0 });
    const unknown = { code: 'unknown_index', field: 'index' };
    for (const name of ['nope', '..', '', 'a/b'])
      expect(await errorOf(() => all.getIndex(name))).toMatchObject(unknown);
  });

  it('are asked with every option, as given', async () => {
    const seen: IndexQuery[] = [];
    const trips = client({ query: async (query) => (seen.push(query), NOTHING) });
    const query: IndexQuery = {
      index: 'driver_index',
      where: { ...DRIVER, city: { in: ['a,b', 'Łódź & [x]=+', ''] }, created_at: { lt: '2026-01-01T00:00:00+01:00' } },
      fields: ['city', 'fare.total'],
      columns: ['BASE', 'ÄÖ/%'],
      order: '-city',
      limit: 7,
      after: 'abc',
      read: 'reader',
      explain: true,
    };
    await trips.query(query);
    await trips.query({ index: 'driver_index', where: {}, columns: '*', fields: [] });
    const where = { ...query.where, driver_uuid: { eq: DRIVER.driver_uuid } };
    expect(seen[0]).toEqual({ ...query, where, batched: false, packed: true });
    const usual = { limit: 100, batched: false, packed: true };
    expect(seen[1]).toEqual({ index: 'driver_index', where: {}, columns: '*', fields: [], ...usual });
  });

  it('take values of every type as text', async () => {
    const seen: IndexQuery[] = [];
    const trips = client({ query: async (query) => (seen.push(query), NOTHING) });
    const values = [2n ** 63n - 1n, -1.5e-7, true, 'x', new Date(Date.UTC(2026, 0, 2))];
    await trips.query({ index: 'zone_index', where: { ['__proto__']: { in: values }, 'a.b': { eq: 1 } } });
    const texts = ['9223372036854775807', '-1.5e-7', 'true', 'x', '2026-01-02T00:00:00.000Z'];
    expect(seen[0]?.where).toEqual({ ['__proto__']: { in: texts }, 'a.b': { eq: '1' } });
  });

  it('answer what was kept: large integers, errors of cells, the explanation', async () => {
    const damage = new SchemalessError('undecodable_body', 'cannot decode it');
    const address = { row_key: ROW, column_name: 'BASE', ref_key: 1, shard: 0, added_id: 1 };
    const cell: Cell = { ...address, body: null, created_at: '2026-01-31T08:00:00.000000Z', error: damage };
    const fields = {
      zone: 2n ** 63n - 1n,
      riders: 7,
      'fare.total': 12.5,
      created_at: '2026-03-04T04:06:07.123456Z',
      is_completed: true,
      city: null,
    };
    const explain = { shard: 3, group: 'group-1', statement: 'SELECT 1', plan: { rows: [1, null] } };
    const entries = [
      { row_key: ROW, fields, cells: [cell] },
      { row_key: ROW, fields: {}, cells: { error: damage } },
      { row_key: ROW, fields: {} },
    ];
    const answer = await client({
      query: async () => ({ entries, next: 'abc', served_by: 'reader', stale: true, explain }),
    }).query({ index: 'zone_index', where: {} });
    expect(answer).toMatchObject({ next: 'abc', served_by: 'reader', stale: true, explain });
    expect(answer.entries.map((entry) => entry.fields)).toEqual([fields, {}, {}]);
    const [first, second, third] = answer.entries.map(({ cells }) => cells);
    expect(first).toMatchObject([{ column_name: 'BASE', error: { code: 'undecodable_body' } }]);
    expect(second).toMatchObject({ error: { name: 'SchemalessError', code: 'undecodable_body' } });
    expect(third).toBeUndefined();
  });

  it.each<[string, object, string, string]>([
    ['a word that means something else', { limit: 1 }, 'unknown_field', 'limit'],
    ['an operator in the name', { 'city[gte]': 'a' }, 'unknown_field', 'city[gte]'],
    ['an unknown operator', { city: { like: 'a' } }, 'unknown_field', 'city.like'],
    ['half a character', { city: { ne: '\ud800' } }, 'invalid_field', 'city[ne]'],
    ['not a number', { city: { gt: Number.NaN } }, 'invalid_field', 'city[gt]'],
    ...[
      undefined,
      null,
      [],
      ['a'],
      {},
      new Map([['eq', 'a']]),
      new Set(),
      new Date(Number.NaN),
      new URL('http://a'),
    ].map((value): [string, object, string, string] => [`${inspect(value)}`, { city: value }, 'invalid_field', 'city']),
    ['undefined for an operator', { city: { eq: undefined } }, 'invalid_field', 'city'],
    ['inherited members', Object.create({ driver_uuid: 'a' }), 'invalid_field', 'where'],
    ['in without a list', { city: { in: 'Lisbon' } }, 'invalid_field', 'city[in]'],
    ['in with a hole', { city: { in: Array(1) } }, 'invalid_field', 'city[in]'],
  ])('refuse %s, before anything is sent', async (_what, more, code, field) => {
    const trips = silentClient();
    const where = (field === 'where' ? more : { ...DRIVER, ...more }) as Where;
    const error = await errorOf(() => trips.query({ index: 'driver_index', where }));
    expect(error).toMatchObject({ code, field });
  });

  it('that are being built are asked again, and then refused with the progress', async () => {
    let asked = 0;
    const building = new SchemalessError('index_building', 'being built', {
      more: { index: 'driver_index', progress: { done: 5, total: 9 } },
    });
    const trips = client({ query: () => ((asked += 1), Promise.reject(building)) }, 2);
    const error = await errorOf(() => trips.query({ index: 'driver_index', where: { ...DRIVER } }));
    const { more } = building.details;
    expect(error).toMatchObject({ code: 'index_building', retry: 'later', details: { more } });
    expect(asked).toBe(2);
  });
});
