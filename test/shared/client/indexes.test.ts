import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { IndexAnswer, IndexQuery } from '../../../shared/contract/index-query.ts';
import type { Condition } from '../../../shared/api/condition.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { fakeDeployment, SHARDS } from '../../functions/support/fake-deployment.ts';
import { errorOf } from '../../support/datastore-conformance.ts';
import { describeIndexes, SUITE_INDEXES } from '../../support/index-conformance.ts';
import { eq } from '../../support/index-on.ts';
import { clientOf, silentClient } from './opened.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const DRIVER: Condition = eq('driver_uuid', randomUUID());
const NOTHING: IndexAnswer = { entries: [], next: null, served_by: 'writer', stale: false };

const client = (changes: Partial<Datastore> = {}, attempts = 1) => clientOf(fakeDeployment(changes), { attempts });

const all = client();
describeIndexes('the client of a reference store', async () => ({ ...all, shards: SHARDS }));

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
      where: [
        DRIVER,
        { field: 'city', operator: 'in', values: ['a,b', 'Łódź & [x]=+', ''] },
        { field: 'created_at', operator: 'lt', values: ['2026-01-01T00:00:00+01:00'] },
      ],
      fields: ['city', 'fare.total'],
      columns: ['BASE', 'ÄÖ/%'],
      order: '-city',
      limit: 7,
      after: 'abc',
      read: 'reader',
      explain: true,
    };
    await trips.query(query);
    await trips.query({ index: 'driver_index', where: [], columns: '*', fields: [] });
    expect(seen[0]).toEqual({ ...query, together: false, packed: true });
    const usual = { limit: 100, together: false, packed: true };
    expect(seen[1]).toEqual({ index: 'driver_index', where: [], columns: '*', fields: [], ...usual });
  });

  it('take values of every type as text', async () => {
    const seen: IndexQuery[] = [];
    const trips = client({ query: async (query) => (seen.push(query), NOTHING) });
    const condition = { field: '__proto__', operator: 'in' } as const;
    await trips.query({ index: 'zone_index', where: [{ ...condition, values: [2n ** 63n - 1n, -1.5e-7, true, 'x'] }] });
    expect(seen[0]?.where).toEqual([{ ...condition, values: ['9223372036854775807', '-1.5e-7', 'true', 'x'] }]);
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
    }).query({ index: 'zone_index', where: [] });
    expect(answer).toMatchObject({ next: 'abc', served_by: 'reader', stale: true, explain });
    expect(answer.entries.map((entry) => entry.fields)).toEqual([fields, {}, {}]);
    const [first, second, third] = answer.entries.map(({ cells }) => cells);
    expect(first).toMatchObject([{ column_name: 'BASE', error: { code: 'undecodable_body' } }]);
    expect(second).toMatchObject({ error: { name: 'SchemalessError', code: 'undecodable_body' } });
    expect(third).toBeUndefined();
  });

  it.each<[string, Condition[], string, string]>([
    ['a word that means something else', [eq('limit', 1)], 'unknown_field', 'limit'],
    ['an operator in the name', [eq('city[gte]', 'a')], 'unknown_field', 'city[gte]'],
    ['no value for equality', [{ field: 'city', operator: 'eq', values: [] }], 'invalid_field', 'city'],
    [
      'the same twice',
      [
        { field: 'city', operator: 'in', values: ['a'] },
        { field: 'city', operator: 'in', values: ['b'] },
      ],
      'invalid_field',
      'city[in]',
    ],
    ['null', [eq('city', null)], 'invalid_field', 'city'],
    ['not a number', [{ field: 'city', operator: 'gt', values: [Number.NaN] }], 'invalid_field', 'city[gt]'],
    ['half a character', [{ field: 'city', operator: 'ne', values: ['\ud800'] }], 'invalid_field', 'city[ne]'],
    ['a date', [eq('created_at', new Date())], 'invalid_field', 'created_at'],
  ])('refuse %s, before anything is sent', async (_what, where, code, field) => {
    const trips = silentClient();
    const error = await errorOf(() => trips.query({ index: 'driver_index', where: [DRIVER, ...where] }));
    expect(error).toMatchObject({ code, field });
  });

  it('that are being built are asked again, and then refused with the progress', async () => {
    let asked = 0;
    const building = new SchemalessError('index_building', 'being built', {
      more: { index: 'driver_index', progress: { done: 5, total: 9 } },
    });
    const trips = client({ query: () => ((asked += 1), Promise.reject(building)) }, 2);
    const error = await errorOf(() => trips.query({ index: 'driver_index', where: [DRIVER] }));
    const { more } = building.details;
    expect(error).toMatchObject({ code: 'index_building', retry: 'later', details: { more } });
    expect(asked).toBe(2);
  });
});
