import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MESSAGE_PACK } from '../../shared/api/message-pack.ts';
import { referenceStore } from '../support/reference-store.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway, type GatewayAnswer } from './support/gateway.ts';

const trips = referenceStore('trips', 4);
const ask = gateway(fakeDeployment(trips));
const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<GatewayAnswer> =>
  ask({ method: 'GET', path, headers });

describe('If-None-Match', () => {
  it('ends with 304 as long as the answer is the same', async () => {
    const path = '/v1/trips/shards';
    const { headers } = await get(path);
    const etag = String(headers['etag']);
    expect(headers).toMatchObject({ etag: expect.stringMatching(/^W\/"[\w-]+"$/u), 'cache-control': 'no-store' });
    for (const known of [etag, etag.slice(2), `"other", ${etag}`])
      expect(await get(path, { 'if-none-match': known })).toMatchObject({ status: 304, text: '', headers: { etag } });
    expect(await get(path, { 'if-none-match': '"other"' })).toMatchObject({ status: 200 });
    await trips.put({ row_key: randomUUID(), column_name: 'BASE', ref_key: 1, body: {} });
    expect(await get(path, { 'if-none-match': etag })).toMatchObject({ status: 200 });
  });

  it('tells hidden bodies from shown ones', async () => {
    const row_key = randomUUID();
    await trips.put({ row_key, column_name: 'BASE', ref_key: 1, body: {} });
    const path = `/v1/trips/cells/${row_key}/BASE/1`;
    const hidden = await get(path, { 'x-schemaless-bodies': 'hidden' });
    expect(hidden.json).toMatchObject({ hidden: true });
    expect(hidden.headers['etag']).not.toBe((await get(path)).headers['etag']);
    expect((await get(path, { accept: MESSAGE_PACK })).headers).not.toHaveProperty('etag');
  });

  it('is for GET, and for answers that succeed', async () => {
    const path = `/v1/trips/cells/${randomUUID()}/ONCE/1`;
    const headers = { 'if-none-match': '*' };
    const missing = await get(path, headers);
    const put = await ask({ method: 'PUT', path, body: '{}', headers });
    const log = await ask({ method: 'POST', path: '/v1/trips/log', body: '{"locations":[]}', headers });
    expect([missing, put, log].map((answer) => [answer.status, answer.headers['etag']])).toEqual([
      [404, undefined],
      [201, undefined],
      [200, undefined],
    ]);
  });
});
