import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openApi } from '../../shared/api/openapi.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway, type GatewayRequest } from './support/gateway.ts';

const ask = gateway(fakeDeployment());
const get = (headers: GatewayRequest['headers'] = {}, signedBy?: string) =>
  ask({ method: 'GET', path: '/v1/openapi.json', headers, ...(signedBy === undefined ? {} : { signedBy }) });

describe('GET /v1/openapi.json', () => {
  it('is the document, of signed requests for those who sign', async () => {
    expect((await get()).json).toEqual(openApi({ isSigned: false }));
    expect((await get({}, 'AKIA')).json).toEqual(openApi({ isSigned: true }));
  });

  it('is made once, not for each request', async () => {
    await get();
    const stringify = vi.spyOn(JSON, 'stringify');
    onTestFinished(() => stringify.mockRestore());
    await get();
    await get({ 'accept-encoding': 'gzip' });
    expect(stringify.mock.calls.filter(([value]) => 'openapi' in value)).toEqual([]);
  });

  it('is answered 304, without a body, to who has it', async () => {
    const { headers } = await get();
    const etag = String(headers['etag']);
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const known of [etag, `W/${etag}`, `"another", ${etag}`, '*']) {
      const again = await get({ 'if-none-match': known });
      expect(again).toMatchObject({ status: 304, text: '', headers: { etag } });
      expect(again.headers).toHaveProperty('x-request-id');
    }
    expect(await get({ 'if-none-match': '"another"' })).toMatchObject({ status: 200 });
    expect(await get({ 'if-none-match': etag }, 'AKIA')).toMatchObject({ status: 200 });
  });

  it.each([
    ['gzip', true],
    ['br, gzip;q=0.5', true],
    ['br, *', false],
    ['gzip;q=0', false],
    ['identity', false],
  ])('goes compressed to who takes %s: %s', async (accepted, isCompressed) => {
    const plain = await get();
    const answer = await get({ 'accept-encoding': accepted });
    expect(answer.headers['content-encoding']).toBe(isCompressed ? 'gzip' : undefined);
    expect(answer.headers['vary']).toBe('accept-encoding');
    expect(answer.json).toEqual(plain.json);
    expect(answer.headers['etag'] === plain.headers['etag']).toBe(!isCompressed);
    if (isCompressed) expect(answer.bytes.length).toBeLessThan(plain.bytes.length / 4);
  });
});
