import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openApi } from '../../shared/api/openapi.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway, type GatewayRequest } from './support/gateway.ts';

const ask = gateway(fakeDeployment());
const get = (headers: GatewayRequest['headers'] = {}, signedBy?: string) =>
  ask({ method: 'GET', path: '/v1/openapi.json', headers, ...(signedBy === undefined ? {} : { signedBy }) });

describe('GET /v1/openapi.json', () => {
  it('is the document, with signed requests for a client that signs', async () => {
    expect((await get()).json).toEqual(openApi({ isSigned: false }));
    expect((await get({}, 'AKIA')).json).toEqual(openApi({ isSigned: true }));
  });

  it('is written once, not for each request', async () => {
    await get();
    const stringify = vi.spyOn(JSON, 'stringify');
    onTestFinished(() => stringify.mockRestore());
    await get();
    await get({ 'accept-encoding': 'gzip' });
    expect(stringify.mock.calls.filter(([value]) => 'openapi' in value)).toEqual([]);
  });

  it('answers 304 to a client that has it, and is another one for a client that signs', async () => {
    const etag = String((await get()).headers['etag']);
    expect(await get({ 'if-none-match': etag })).toMatchObject({ status: 304, text: '' });
    expect(await get({ 'if-none-match': etag }, 'AKIA')).toMatchObject({ status: 200 });
  });
});
