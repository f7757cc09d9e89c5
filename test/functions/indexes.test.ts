import { beforeAll, describe, expect, it } from 'vitest';
import type { Cell } from '../../shared/cell.ts';
import { SchemalessError } from '../../shared/errors.ts';
import type { IndexAnswer, IndexQuery } from '../../shared/contract/index-query.ts';
import { SUITE_INDEXES } from '../support/index-conformance.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway } from './support/gateway.ts';

const DRIVER = '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10';
const ROWS = [
  '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0',
  '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f1',
  '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f2',
] as const;
const PATH = `/v1/trips/indexes/driver_index`;
const NOTHING: IndexAnswer = { entries: [], next: null, served_by: 'writer', stale: false };

/** The query that the datastore gets for a query string. */
async function queryOf(parameters: string): Promise<IndexQuery | undefined> {
  let seen: IndexQuery | undefined;
  const deployment = fakeDeployment({ query: async (query) => ((seen = query), NOTHING) });
  const { status } = await gateway(deployment)({ method: 'GET', path: `${PATH}?${parameters}` });
  expect(status).toBe(200);
  return seen;
}

describe('the query string of an index', () => {
  it('says conditions, in their order', async () => {
    const query = await queryOf(
      `driver_uuid=${DRIVER}&riders[ne]=1&riders[lt]=2&riders[lte]=3&riders[gt]=4&riders[gte]=5&city[in]=Lisbon&fare.total=1.5&city%5Bin%5D=a%2Cb`,
    );
    expect(query).toMatchObject({ index: 'driver_index', limit: 100, explain: false });
    expect(query?.where).toEqual([
      { field: 'driver_uuid', operator: 'eq', values: [DRIVER] },
      { field: 'riders', operator: 'ne', values: ['1'] },
      { field: 'riders', operator: 'lt', values: ['2'] },
      { field: 'riders', operator: 'lte', values: ['3'] },
      { field: 'riders', operator: 'gt', values: ['4'] },
      { field: 'riders', operator: 'gte', values: ['5'] },
      { field: 'city', operator: 'in', values: ['Lisbon', 'a,b'] },
      { field: 'fare.total', operator: 'eq', values: ['1.5'] },
    ]);
  });

  it('takes values as they are: empty, with equals signs, plus signs, other scripts', async () => {
    const query = await queryOf(
      'city=&created_at[gte]=2026-01-01T00:00:00%2B01:00&note=a=b&name=%C5%81%C3%B3d%C5%BA+1',
    );
    expect(query?.where.map(({ values }) => values[0])).toEqual(['', '2026-01-01T00:00:00+01:00', 'a=b', 'Łódź 1']);
  });

  it('says what to answer', async () => {
    const query = await queryOf(
      `driver_uuid=${DRIVER}&fields=city,fare.total&column=BASE&column=FARE+ADJUSTMENT&order=-city&limit=7&after=abc&read=reader&explain=true`,
    );
    expect(query).toEqual({
      packed: false,
      index: 'driver_index',
      where: [{ field: 'driver_uuid', operator: 'eq', values: [DRIVER] }],
      fields: ['city', 'fare.total'],
      columns: ['BASE', 'FARE ADJUSTMENT'],
      order: '-city',
      limit: 7,
      after: 'abc',
      read: 'reader',
      together: false,
      explain: true,
    });
    expect(await queryOf('column=*&fields=&explain=false')).toMatchObject({
      where: [],
      columns: '*',
      fields: [],
      explain: false,
    });
  });
});

describe('indexes', () => {
  const deployment = fakeDeployment();
  const ask = gateway(deployment);
  const get = (path: string) => ask({ method: 'GET', path });

  beforeAll(async () => {
    for (const [position, row_key] of ROWS.entries()) {
      await deployment.trips.put({
        row_key,
        column_name: 'BASE',
        ref_key: 1,
        body: {
          driver_uuid: DRIVER,
          city: ['Lisbon', 'Porto', 'Faro'][position] ?? null,
          fare: { total: position + 0.5 },
        },
      });
    }
    await deployment.trips.put({ row_key: ROWS[0], column_name: 'STATUS', ref_key: 1, body: { is_completed: true } });
  });

  it('are listed with their states, and shown alone without parameters', async () => {
    const { status, json } = await get('/v1/trips/indexes');
    expect(status).toBe(200);
    expect(json['indexes']).toMatchObject(
      SUITE_INDEXES.map(({ name, fields }) => ({ index: name, state: 'live', fields })),
    );
    for (const path of [PATH, `${PATH}?`, `${PATH}?&`])
      expect(await get(path)).toMatchObject({
        status: 200,
        json: { index: 'driver_index', state: 'live', progress: null },
      });
  });

  it('find rows by their fields, with the cells of the columns asked for', async () => {
    const { json } = await get(
      `${PATH}?driver_uuid=${DRIVER.toUpperCase()}&city=Lisbon&column=STATUS&fields=city,is_completed`,
    );
    expect(json).toEqual({
      entries: [
        {
          row_key: ROWS[0],
          fields: { city: 'Lisbon', is_completed: true },
          cells: [expect.objectContaining({ column_name: 'STATUS', body: { is_completed: true } })],
        },
      ],
      next: null,
      served_by: 'writer',
      stale: false,
    });
    const { json: plain } = await get(`${PATH}?driver_uuid=${DRIVER}&fare.total[gt]=1&fields=`);
    expect(plain['entries']).toEqual([
      { row_key: ROWS[1], fields: {} },
      { row_key: ROWS[2], fields: {} },
    ]);
  });

  it('go on after `next`, by its old name, too', async () => {
    const path = `${PATH}?driver_uuid=${DRIVER}&order=city&limit=2`;
    const { json } = await get(path);
    expect(json).toMatchObject({ entries: [{ row_key: ROWS[2] }, { row_key: ROWS[0] }], next: expect.any(String) });
    for (const name of ['after', 'cursor'])
      expect((await get(`${path}&${name}=${String(json['next'])}`)).json).toMatchObject({
        entries: [{ row_key: ROWS[1] }],
        next: null,
      });
  });

  it('keep integers of 64 bits, and answer errors of cells in their places', async () => {
    const cell: Cell = {
      row_key: ROWS[0],
      column_name: 'BASE',
      ref_key: 1,
      body: null,
      added_id: 1,
      shard: 0,
      created_at: '2026-01-31T08:00:00.000000Z',
      error: new SchemalessError('undecodable_body', 'cannot decode it'),
    };
    const error = new SchemalessError('unavailable', 'group-2 does not answer', { more: { group: 'group-2' } });
    const entries = [
      { row_key: ROWS[0], fields: { zone: 2n ** 63n - 1n }, cells: [cell] },
      { row_key: ROWS[1], fields: { zone: null }, cells: { error } },
    ];
    const { text, json } = await gateway(fakeDeployment({ query: async () => ({ ...NOTHING, entries }) }))({
      method: 'GET',
      path: `${PATH}?zone=1`,
    });
    expect(text).toContain('"fields":{"zone":9223372036854775807}');
    expect(json['entries']).toMatchObject([
      { cells: [{ body: null, error: { code: 'undecodable_body', retry: 'never' } }] },
      {
        cells: { error: { code: 'unavailable', detail: 'group-2 does not answer', group: 'group-2', retry: 'later' } },
      },
    ]);
  });

  it('that are being built answer 503 with the progress', async () => {
    const building = new SchemalessError('index_building', 'driver_index is being built: 5 of 9 cells', {
      more: { index: 'driver_index', progress: { done: 5, total: 9 } },
    });
    const answer = await gateway(fakeDeployment({ query: () => Promise.reject(building) }))({
      method: 'GET',
      path: `${PATH}?driver_uuid=${DRIVER}`,
    });
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      json: { code: 'index_building', retry: 'later', progress: { done: 5, total: 9 } },
    });
  });
});
