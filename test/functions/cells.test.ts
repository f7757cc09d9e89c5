import { describe, expect, it } from 'vitest';
import { shardOf } from '../../shared/address.ts';
import { LIMITS, type Cell, type Json, type PutResult } from '../../shared/cell.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { storeOf } from '../support/store-of.ts';
import { describeDatastore } from '../support/datastore-conformance.ts';
import { fakeDeployment, SHARDS } from './support/fake-deployment.ts';
import { gateway, gatewayFetch } from './support/gateway.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const PATH = `/v1/trips/cells/${ROW}/BASE/1`;
const ADDRESS = { row_key: ROW, column_name: 'BASE', ref_key: 1 };
const CREATED_AT = '2026-01-31T08:00:00.000000Z';
const SERVED = { served_by: 'writer', stale: false } as const;

// Tests the datastore's contract over HTTP: handlers and client over the reference store, in both forms of answers.
for (const messagePack of [true, false]) {
  const fetch = gatewayFetch(gateway(fakeDeployment()));
  const client = schemalessClient({ url: 'http://store.test', datastore: 'trips', attempts: 1, messagePack, fetch });
  const first: Datastore = { ...storeOf(client), shards: SHARDS };
  describeDatastore(`HTTP in ${messagePack ? 'MessagePack' : 'JSON'}`, async () => ({ first }));
}

describe('PUT of a cell', () => {
  it('answers 201 with its place, 200 for an equal body, 409 for another one', async () => {
    const ask = gateway(fakeDeployment());
    const stored = await ask({ method: 'PUT', path: PATH, body: '{"a":1,"b":2}' });
    expect(stored).toMatchObject({ status: 201, headers: { 'content-type': 'application/json' } });
    const place = { shard: shardOf(ROW, SHARDS), added_id: 1, created_at: expect.any(String) };
    expect(stored.json).toEqual({ outcome: 'stored', ...ADDRESS, ...place });
    const again = await ask({ method: 'PUT', path: PATH, body: ' { "b": 2, "a": 1.0 } ' });
    expect(again).toMatchObject({ status: 200, json: { outcome: 'stored_before', added_id: 1 } });
    expect(await ask({ method: 'PUT', path: PATH, body: '{"a":1}' })).toMatchObject({
      status: 409,
      headers: { 'content-type': 'application/problem+json' },
      json: { code: 'conflict', outcome: 'conflict', retry: 'never', added_id: 1, address: ADDRESS },
    });
    expect((await ask({ method: 'GET', path: PATH })).json).toMatchObject({ body: { a: 1, b: 2 } });
  });

  it.each<[number, PutResult, object]>([
    [202, { outcome: 'buffered', shard: 3, copies: 2 }, { outcome: 'buffered', copies: 2, ref_key: 1 }],
    [409, { outcome: 'erased', shard: 3 }, { code: 'erased', outcome: 'erased', retry: 'never' }],
    [
      503,
      { outcome: 'unavailable', shard: 3, reason: 'no secondary was reached' },
      { code: 'unavailable', retry: 'later', detail: expect.stringContaining('no secondary was reached') },
    ],
  ])('answers %i to %j', async (status, result, json) => {
    const ask = gateway(fakeDeployment({ put: async () => result }));
    const answer = await ask({ method: 'PUT', path: PATH, body: '1' });
    expect(answer).toMatchObject({ status, json: { shard: 3, ...json } });
    expect(answer.headers['retry-after']).toBe(status === 503 ? '1' : undefined);
  });

  it('keeps 64 bit integers, key order and any JSON value', async () => {
    let kept: Json = null;
    const ask = gateway(
      fakeDeployment({
        put: async ({ body }) => ((kept = body), { outcome: 'stored', shard: 0, added_id: 1 }),
        get: async (address) => ({
          cell: { ...address, body: kept, shard: 0, added_id: 1, created_at: CREATED_AT },
          ...SERVED,
        }),
      }),
    );
    const body = '{"z":18446744073709551615,"2":-9223372036854775808,"1":[true,null,"\\u0000"],"__proto__":{"x":1}}';
    await ask({ method: 'PUT', path: PATH, body });
    expect((await ask({ method: 'GET', path: PATH })).text).toContain(`"body":${body}`);
  });

  it('takes a body that the gateway passes on in base64', async () => {
    const ask = gateway(fakeDeployment());
    expect(await ask({ method: 'PUT', path: PATH, body: Buffer.from('"Łódź"') })).toMatchObject({ status: 201 });
    expect((await ask({ method: 'GET', path: PATH })).json).toMatchObject({ body: 'Łódź' });
  });
});

describe('reads', () => {
  it('answer a cell with the role that served it, and 404 with the address, the role and whether that may be stale', async () => {
    const deployment = fakeDeployment();
    await deployment.trips.put({ ...ADDRESS, body: { city: 'Lisbon' } });
    const ask = gateway(deployment);
    const found = await ask({ method: 'GET', path: PATH });
    expect(found.status).toBe(200);
    const place = { added_id: 1, shard: shardOf(ROW, SHARDS), created_at: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/) };
    expect(found.json).toEqual({ ...ADDRESS, body: { city: 'Lisbon' }, ...place, ...SERVED });
    expect(await ask({ method: 'GET', path: PATH.replace('/1', '/3') })).toMatchObject({
      status: 404,
      json: { code: 'cell_not_found', address: { ...ADDRESS, ref_key: 3 }, ...SERVED },
    });
    const latest = await ask({ method: 'GET', path: `/v1/trips/cells/${ROW}/NOTES` });
    expect(latest.json['address']).toEqual({ row_key: ROW, column_name: 'NOTES' });
    const stale = { served_by: 'reader', stale: true } as const;
    const behind = gateway(fakeDeployment({ get: async () => ({ cell: null, ...stale }) }));
    expect(await behind({ method: 'GET', path: `${PATH}?read=reader` })).toMatchObject({ status: 404, json: stale });
  });

  it('answer an error in the place of an item, never null', async () => {
    const error = new SchemalessError('unavailable', 'group-2 does not answer');
    const ask = gateway(fakeDeployment({ batchGet: async () => [null, { error }] }));
    const { status, json } = await ask({ method: 'POST', path: '/v1/trips/batch-get', body: '{"keys":[]}' });
    const shown = { code: 'unavailable', title: expect.any(String), detail: 'group-2 does not answer', retry: 'later' };
    expect([status, json]).toEqual([200, { cells: [null, { error: shown }] }]);
  });

  it('pass on which node is asked, and what it must have seen', async () => {
    const seen: unknown[] = [];
    const found = { cell: null, ...SERVED };
    const ask = gateway(
      fakeDeployment({
        get: async (...call) => (seen.push(call[1]), found),
        getLatest: async (...call) => (seen.push(call[1]), found),
        batchGet: async (keys, options) => (seen.push({ ...options, min_added_id: keys[0]?.min_added_id }), []),
      }),
    );
    const body = JSON.stringify({ keys: [{ row_key: ROW, column_name: 'BASE', min_added_id: 9 }] });
    await ask({ method: 'GET', path: `${PATH}?read=reader&min_added_id=9` });
    await ask({ method: 'GET', path: `/v1/trips/cells/${ROW}/BASE?read=reader&min_added_id=9` });
    await ask({ method: 'POST', path: '/v1/trips/batch-get?read=reader', body });
    const asked = { read: 'reader', min_added_id: 9, packed: false };
    expect(seen).toEqual([asked, asked, asked]);
  });

  it.each([
    // Each takes two bytes in a body, as JSON, and four where that JSON is a string of the payload.
    ['quotes', '"'.repeat(LIMITS.bodyBytes / 2 - 1000)],
    ['plain text', 'x'.repeat(LIMITS.bodyBytes - 1000)],
    ['letters of two bytes', 'é'.repeat(LIMITS.bodyBytes / 2 - 1000)],
  ])('fit into the 6 MB that a function may answer at their limit, and come whole: %s', async (_what, body) => {
    const cell: Cell = { ...ADDRESS, body, added_id: 1, shard: 0, created_at: CREATED_AT };
    const page = { cells: [cell, cell, cell, cell], next: null, ...SERVED };
    const ask = gateway(fakeDeployment({ versions: async () => page }));
    const { status, json, bytes, payloadBytes } = await ask({
      method: 'GET',
      path: `/v1/trips/cells/${ROW}/BASE/versions`,
    });
    expect(status).toBe(200);
    expect((json['cells'] as readonly Cell[]).map((shown) => shown.body === body)).toEqual([true, true, true, true]);
    expect(bytes.length).toBeGreaterThan(LIMITS.answerBytes * 0.99);
    expect(payloadBytes).toBeLessThan(6_000_000);
  });
});
