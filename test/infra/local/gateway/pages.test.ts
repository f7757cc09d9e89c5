import { describe, expect, it, onTestFinished } from 'vitest';
import { localEnvironment } from '../../../../infra/app-context.ts';
import type { CorsRules } from '../../../../infra/local/gateway/cors.ts';
import { openGateway } from '../../../../infra/local/gateway/gateway.ts';
import type { HttpRoute } from '../../../../infra/local/gateway/route-table.ts';

describe('pages of other origins', () => {
  const PAGE = 'http://localhost:5173';
  const RULES: CorsRules = {
    origins: [PAGE],
    methods: ['GET', 'PUT'],
    headers: ['content-type', 'x-request-id'],
    exposed: ['x-request-id'],
    maxAgeSeconds: 3600,
  };
  async function open(rules: CorsRules | undefined) {
    const opened = await openGateway(0, () => undefined);
    onTestFinished(() => opened.close());
    const called: string[] = [];
    const routes = ['GET', 'PUT', 'POST', 'DELETE'].map((method): HttpRoute => {
      const called = { functionArn: method, timeoutMs: 30_000, apiId: 'api' };
      return { routeKey: `${method} /cells`, authorization: 'AWS_IAM', ...called };
    });
    const answer = { text: JSON.stringify({ statusCode: 200, headers: { vary: 'accept' }, body: 'a cell' }) };
    opened.serve(routes, (method) => async () => (called.push(method), answer), rules);
    const send = (method: string, headers: Record<string, string>) => fetch(`${opened.url}/cells`, { method, headers });
    return { send, called };
  }
  const corsOf = ({ headers }: Response): Record<string, string> =>
    Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
  const PREFLIGHT = { origin: PAGE, 'access-control-request-method': 'PUT' };

  const OTHER = 'http://elsewhere.example';

  it('are told by the gateway what they may, before any function is asked, and get the answer', async () => {
    const { send } = await open(RULES);
    const asked = await send('OPTIONS', PREFLIGHT);
    expect([asked.status, await asked.text()]).toEqual([204, '']);
    expect(corsOf(asked)).toEqual({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET,PUT',
      'access-control-allow-headers': 'content-type,x-request-id',
      'access-control-max-age': '3600',
    });
    const answer = await send('GET', { origin: PAGE });
    expect(await answer.text()).toBe('a cell');
    expect(corsOf(answer)).toEqual({
      'access-control-allow-origin': PAGE,
      'access-control-expose-headers': 'x-request-id',
    });
  });

  it('get nothing that lets a browser show it to them, where they are not named', async () => {
    const { send } = await open(RULES);
    expect(corsOf(await send('OPTIONS', { ...PREFLIGHT, origin: OTHER }))).toEqual({});
    expect(corsOf(await send('GET', { origin: OTHER }))).toEqual({});
    // No browser.
    expect(corsOf(await send('GET', {}))).toEqual({});
    const none = await open(undefined);
    expect((await none.send('OPTIONS', PREFLIGHT)).status).toBe(404);
    expect(corsOf(await none.send('GET', { origin: PAGE }))).toEqual({});
  });

  it.each([
    ['of some origins', RULES],
    ['of none', undefined],
  ])('change nothing where the pages %s may ask, with requests that a browser sends unasked', async (_, rules) => {
    const { send, called } = await open(rules);
    for (const origin of [OTHER, 'http://localhost:5173.elsewhere.example', 'null'])
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const answer = await send(method, { origin, 'content-type': 'text/plain' });
        const message = expect.stringMatching(/^origin: wanted .+, got .+--cors/u);
        expect([answer.status, await answer.json()]).toEqual([403, { message }]);
      }
    expect(called).toEqual([]);
    expect((await send('DELETE', {})).status).toBe(200);
    expect(called).toEqual(['DELETE']);
  });

  it.each([
    ['http://localhost', 200],
    ['http://localhost:5173', 200],
    ['http://127.0.0.1:80', 200],
    ['http://[::1]:5173', 200],
    ['https://elsewhere.example', 403],
    ['http://localhost.elsewhere.example:80', 403],
    ['http://localhost:5173.elsewhere.example', 403],
    ['http://elsewhere.example/?http://localhost:5173', 403],
    ['http://127.0.0.1.elsewhere.example', 403],
    ['null', 403],
  ])('ask and change by themselves if they are of this machine, at whatever port: %s', async (origin, status) => {
    const { send } = await open({ ...RULES, origins: localEnvironment({}).corsOrigins });
    const [preflight, changed] = [await send('OPTIONS', { ...PREFLIGHT, origin }), await send('DELETE', { origin })];
    expect(changed.status).toBe(status);
    for (const answer of [preflight, changed])
      expect(corsOf(answer)['access-control-allow-origin']).toBe(status === 200 ? origin : undefined);
  });

  it('are told apart by caches, wherever the answer depends on the page', async () => {
    const { send } = await open(RULES);
    for (const headers of [{}, { origin: PAGE }, { origin: OTHER }] as Record<string, string>[])
      expect((await send('GET', headers)).headers.get('vary')).toBe('accept, origin');
    expect((await send('OPTIONS', PREFLIGHT)).headers.get('vary')).toBe('origin');
  });

  it('are all let in by a wildcard', async () => {
    const { send } = await open({ ...RULES, origins: ['*'] });
    const answer = await send('DELETE', { origin: OTHER });
    expect([answer.status, answer.headers.get('vary')]).toEqual([200, 'accept']);
    expect(corsOf(answer)).toMatchObject({ 'access-control-allow-origin': '*' });
  });
});
