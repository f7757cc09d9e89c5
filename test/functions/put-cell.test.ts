import { describe, expect, it } from 'vitest';
import type { Json, PutResult } from '../../shared/cell.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway } from './support/gateway.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const PATH = `/v1/trips/cells/${ROW}/BASE/1`;

describe('PUT of a cell', () => {
  it('answers 201 with its place, 200 for the same again, 409 for another body', async () => {
    const ask = gateway(fakeDeployment());
    const stored = await ask({ method: 'PUT', path: PATH, body: '{"a":1,"b":2}' });
    expect(stored).toMatchObject({ status: 201, headers: { 'content-type': 'application/json' } });
    expect(stored.json).toEqual({
      outcome: 'stored',
      row_key: ROW,
      column_name: 'BASE',
      ref_key: 1,
      shard: expect.any(Number),
      added_id: 1,
      created_at: expect.any(String),
    });

    const again = await ask({ method: 'PUT', path: PATH, body: ' { "b": 2, "a": 1.0 } ' });
    expect(again).toMatchObject({ status: 200, json: { outcome: 'stored_before', added_id: 1 } });

    const other = await ask({ method: 'PUT', path: PATH, body: '{"a":1}' });
    expect(other).toMatchObject({
      status: 409,
      headers: { 'content-type': 'application/problem+json' },
      json: {
        code: 'conflict',
        outcome: 'conflict',
        retry: 'never',
        added_id: 1,
        address: { row_key: ROW, column_name: 'BASE', ref_key: 1 },
      },
    });
    expect((await ask({ method: 'GET', path: PATH })).json).toMatchObject({ body: { a: 1, b: 2 } });
  });

  it('passes on that it is asked when the cell was stored', async () => {
    const asked: unknown[] = [];
    const stored = { outcome: 'stored', shard: 0, added_id: 1, created_at: '2026-01-31T08:00:00.000000Z' } as const;
    const ask = gateway(
      fakeDeployment({
        put: async (_cell, options) => (asked.push(options), stored),
        batchPut: async (_cells, options) => (asked.push(options), [stored]),
      }),
    );
    const batch = JSON.stringify({ cells: [{ row_key: ROW, column_name: 'BASE', ref_key: 1, body: 1 }] });
    const one = await ask({ method: 'PUT', path: `${PATH}?with=created_at`, body: '1' });
    const many = await ask({ method: 'POST', path: '/v1/trips/batch-put?with=created_at', body: batch });
    expect(one.json).toMatchObject({ created_at: stored.created_at });
    expect(many.json).toEqual({ results: [stored] });
    expect(asked).toEqual([{ with: 'created_at' }, { with: 'created_at' }]);
  });

  it('takes row keys in upper case and answers them in lower case', async () => {
    const ask = gateway(fakeDeployment());
    await ask({ method: 'PUT', path: PATH.replace(ROW, ROW.toUpperCase()), body: 'null' });
    expect((await ask({ method: 'GET', path: PATH })).json).toMatchObject({ row_key: ROW, body: null });
  });

  it('keeps 64 bit integers, key order and any JSON value', async () => {
    let kept: Json = null;
    const deployment = fakeDeployment({
      put: async ({ body }) => ((kept = body), { outcome: 'stored', shard: 0, added_id: 1 }),
      get: async (address) => ({
        cell: { ...address, body: kept, shard: 0, added_id: 1, created_at: '2026-01-31T08:00:00.000000Z' },
        served_by: 'writer',
        stale: false,
      }),
    });
    const ask = gateway(deployment);
    const body = '{"z":18446744073709551615,"2":-9223372036854775808,"1":[true,null,"\\u0000"],"__proto__":{"x":1}}';
    await ask({ method: 'PUT', path: PATH, body });
    const { text } = await ask({ method: 'GET', path: PATH });
    expect(text).toContain(`"body":${body}`);
  });

  it('takes a body that the gateway passes on in base64', async () => {
    const ask = gateway(fakeDeployment());
    expect(await ask({ method: 'PUT', path: PATH, body: Buffer.from('"Łódź"') })).toMatchObject({ status: 201 });
    expect((await ask({ method: 'GET', path: PATH })).json).toMatchObject({ body: 'Łódź' });
  });

  const answered = (result: PutResult) =>
    gateway(fakeDeployment({ put: async () => result }))({ method: 'PUT', path: PATH, body: '1' });

  it('answers 202 with the copies when it was only buffered', async () => {
    expect(await answered({ outcome: 'buffered', shard: 3, copies: 2 })).toMatchObject({
      status: 202,
      json: { outcome: 'buffered', shard: 3, copies: 2, ref_key: 1 },
    });
  });

  it('answers 409 where nothing may be written any more', async () => {
    const answer = await answered({ outcome: 'erased', shard: 3 });
    expect(answer).toMatchObject({
      status: 409,
      json: { code: 'erased', outcome: 'erased', status: 409, retry: 'never', shard: 3 },
    });
  });

  it('answers 503 with Retry-After when it was not confirmed', async () => {
    const answer = await answered({ outcome: 'unavailable', shard: 3, reason: 'no secondary was reached' });
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      json: { code: 'unavailable', outcome: 'unavailable', retry: 'later', shard: 3 },
    });
    expect(answer.json['detail']).toContain('no secondary was reached');
  });
});

describe('POST batch-put', () => {
  it('answers each outcome in its place', async () => {
    const ask = gateway(fakeDeployment());
    const cell = (ref_key: number, body: unknown) => ({ row_key: ROW, column_name: 'ÄÖ/%', ref_key, body });
    await ask({ method: 'POST', path: '/v1/trips/batch-put', body: JSON.stringify({ cells: [cell(1, 'a')] }) });
    const { status, json } = await ask({
      method: 'POST',
      path: '/v1/trips/batch-put',
      body: JSON.stringify({ cells: [cell(2, null), cell(1, 'a'), cell(1, 'b')] }),
    });
    expect(status).toBe(200);
    expect(json['results']).toMatchObject([
      { outcome: 'stored', added_id: 2 },
      { outcome: 'stored_before', added_id: 1 },
      { outcome: 'conflict', added_id: 1 },
    ]);
  });

  it('takes bodies as deep as a single put does, and none deeper', async () => {
    const ask = gateway(fakeDeployment());
    const cells = (depth: number) =>
      `{"cells":[{"row_key":"${ROW}","column_name":"A","ref_key":0,"body":${'['.repeat(depth)}${']'.repeat(depth)}}]}`;
    expect(await ask({ method: 'POST', path: '/v1/trips/batch-put', body: cells(100) })).toMatchObject({ status: 200 });
    expect(await ask({ method: 'POST', path: '/v1/trips/batch-put', body: cells(101) })).toMatchObject({ status: 400 });
  });
});
