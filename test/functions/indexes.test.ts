import { describe, expect, it } from 'vitest';
import type { IndexAnswer, IndexQuery } from '../../shared/contract/index-query.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { SUITE_INDEXES } from '../support/index-conformance.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway } from './support/gateway.ts';

// `test/shared/client/indexes.test.ts` tests the results of indexes over HTTP.

const DRIVER = '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10';
const PATH = `/v1/trips/indexes/driver_index`;
const NOTHING: IndexAnswer = { entries: [], next: null, served_by: 'writer', stale: false };

async function queryOf(parameters: string): Promise<IndexQuery | undefined> {
  let seen: IndexQuery | undefined;
  const deployment = fakeDeployment({ query: async (query) => ((seen = query), NOTHING) });
  const { status } = await gateway(deployment)({ method: 'GET', path: `${PATH}?${parameters}` });
  expect(status).toBe(200);
  return seen;
}

describe('the query string of an index', () => {
  it('takes values as they are: empty, with equals signs, plus signs, other scripts', async () => {
    const query = await queryOf(
      'city=&created_at[gte]=2026-01-01T00:00:00%2B01:00&note=a=b&name=%C5%81%C3%B3d%C5%BA+1',
    );
    expect(query?.where).toEqual({
      city: { eq: '' },
      created_at: { gte: '2026-01-01T00:00:00+01:00' },
      note: { eq: 'a=b' },
      name: { eq: 'Łódź 1' },
    });
  });

  it('says what to answer', async () => {
    const wanted = 'fields=city,fare.total&column=BASE&column=FARE+ADJUSTMENT&order=-city&limit=7';
    expect(await queryOf(`driver_uuid=${DRIVER}&${wanted}&after=abc&read=reader&explain=true`)).toEqual({
      packed: false,
      index: 'driver_index',
      where: { driver_uuid: { eq: DRIVER } },
      fields: ['city', 'fare.total'],
      columns: ['BASE', 'FARE ADJUSTMENT'],
      order: '-city',
      limit: 7,
      after: 'abc',
      read: 'reader',
      batched: false,
      explain: true,
    });
    const all = { where: {}, columns: '*', fields: [], explain: false };
    expect(await queryOf('column=*&fields=&explain=false')).toMatchObject(all);
  });
});

describe('indexes', () => {
  it('are listed with their states, and shown alone without parameters', async () => {
    const ask = gateway(fakeDeployment());
    const { status, json } = await ask({ method: 'GET', path: '/v1/trips/indexes' });
    expect(status).toBe(200);
    expect(json['indexes']).toMatchObject(
      SUITE_INDEXES.map(({ name, fields }) => ({ index: name, state: 'live', fields })),
    );
    const shown = { status: 200, json: { index: 'driver_index', state: 'live', progress: null } };
    for (const path of [PATH, `${PATH}?`, `${PATH}?&`]) expect(await ask({ method: 'GET', path })).toMatchObject(shown);
  });

  it('that are being built answer 503 with the progress', async () => {
    const building = new SchemalessError('index_building', 'driver_index is being built: 5 of 9 cells', {
      more: { index: 'driver_index', progress: { done: 5, total: 9 } },
    });
    const ask = gateway(fakeDeployment({ query: () => Promise.reject(building) }));
    expect(await ask({ method: 'GET', path: `${PATH}?driver_uuid=${DRIVER}` })).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      json: { code: 'index_building', retry: 'later', progress: { done: 5, total: 9 } },
    });
  });
});
