import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway } from './support/gateway.ts';

const CELL = '/v1/trips/cells/6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0/BASE';
const GZIP = { 'accept-encoding': 'deflate, gzip;q=0.8' };

async function stored(letters: number): Promise<ReturnType<typeof gateway>> {
  const ask = gateway(fakeDeployment());
  const put = await ask({ method: 'PUT', path: `${CELL}/1`, body: JSON.stringify('x'.repeat(letters)) });
  expect(put.status).toBe(201);
  return ask;
}

it('long JSON is compressed for a client that accepts gzip, and varies by that', async () => {
  const ask = await stored(20_000);
  const plain = await ask({ method: 'GET', path: CELL });
  const small = await ask({ method: 'GET', path: CELL, headers: GZIP });
  expect(plain.headers).toMatchObject({ vary: 'accept, accept-encoding' });
  expect(plain.headers).not.toHaveProperty('content-encoding');
  expect(small.headers).toMatchObject({ vary: 'accept, accept-encoding', 'content-encoding': 'gzip' });
  expect(small.bytes.length).toBeLessThan(plain.bytes.length / 10);
  expect(gunzipSync(small.bytes).toString()).toBe(plain.bytes.toString());
});

it('short answers, MessagePack, and answers to a client that refuses gzip are not compressed', async () => {
  const short = await stored(1000);
  const headersOf = async (ask: ReturnType<typeof gateway>, headers: Record<string, string>): Promise<object> =>
    (await ask({ method: 'GET', path: CELL, headers })).headers;
  expect(await headersOf(short, GZIP)).not.toHaveProperty('content-encoding');
  const long = await stored(20_000);
  expect(await headersOf(long, { ...GZIP, accept: 'application/vnd.msgpack' })).not.toHaveProperty('content-encoding');
  for (const encodings of ['gzip;q=0', 'br, *', 'identity'])
    expect(await headersOf(long, { 'accept-encoding': encodings })).not.toHaveProperty('content-encoding');
});
