import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../functions/http/answer.ts';
import { onceAnother } from '../../functions/http/once-another.ts';
import { referenceStore } from '../../shared/store/reference-store.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway, type GatewayAnswer } from './support/gateway.ts';

const trips = referenceStore('trips', 4);
const ask = gateway(fakeDeployment(trips));

function read(path: string, prefer: string, tag?: unknown): Promise<GatewayAnswer> {
  return ask({ method: 'GET', path, headers: { prefer, ...(tag !== undefined && { 'if-none-match': String(tag) }) } });
}

describe('a long poll', () => {
  it('polls until the answer is another one', async () => {
    let polls = 0;
    const poll = async (): Promise<Answer> => ({
      status: 200,
      body: { is: (polls += 1) < 3 ? 'as before' : 'another' },
    });
    const asked = (headers: Readonly<Record<string, string>>): Promise<Answer> =>
      onceAnother({ header: (name) => headers[name] }, poll, 20);
    const { headers } = await asked({ prefer: 'wait=0' });
    const tag = String(headers?.['etag']);
    const answer = await asked({ prefer: 'respond-async, wait=20', 'if-none-match': tag });
    expect(answer).toMatchObject({ status: 200, body: { is: 'another' } });
    expect([polls, answer.headers?.['etag'] === tag]).toEqual([3, false]);
  });

  it.each([
    ['/v1/trips/shards', 'wait=0'],
    // Functions of which there are few, which others need, hold no request.
    ['/v1/trips/triggers', 'wait=20'],
  ])('of %s with %s ends with 304 where the answer is the same', async (path, prefer) => {
    const { headers } = await read(path, 'wait=0');
    expect(headers).toMatchObject({ etag: expect.any(String), 'cache-control': 'no-store' });
    expect(await read(path, prefer, headers['etag'])).toMatchObject({ status: 304, text: '' });
    expect(await read(path, prefer, '"other"')).toMatchObject({ status: 200 });
  });

  it('may have a body, and compares what is hidden as it is shown', async () => {
    const row_key = randomUUID();
    await trips.put({ row_key, column_name: 'BASE', ref_key: 1, body: {} });
    const path = `/v1/trips/cells/${row_key}/BASE/1`;
    const prefer = 'wait=0';
    const hidden = await ask({ method: 'GET', path, headers: { prefer, 'x-schemaless-bodies': 'hidden' } });
    expect(hidden.json).toMatchObject({ hidden: true });
    expect(hidden.headers['etag']).not.toBe((await read(path, prefer)).headers['etag']);
    const log = { method: 'POST', path: '/v1/trips/log', body: '{"locations":[]}', headers: { prefer } };
    expect((await ask(log)).headers['etag']).toEqual(expect.any(String));
  });

  it('is for reads that ask for it', async () => {
    const path = `/v1/trips/cells/${randomUUID()}/ONCE/1`;
    const put = await ask({ method: 'PUT', path, body: '{}', headers: { prefer: 'wait=20', 'if-none-match': '*' } });
    const shards = await ask({ method: 'GET', path: '/v1/trips/shards', headers: { 'if-none-match': '*' } });
    expect([put, shards].map(({ status, headers }) => [status, headers['etag']])).toEqual([
      [201, undefined],
      [200, undefined],
    ]);
  });
});
