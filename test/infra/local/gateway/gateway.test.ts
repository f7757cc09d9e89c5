import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { localEnvironment } from '../../../../infra/app-context.ts';
import type { CorsRules } from '../../../../infra/local/gateway/cors.ts';
import { GATEWAY_LIMITS, openGateway, type AccessLine, type Gateway } from '../../../../infra/local/gateway/gateway.ts';
import type { HttpRoute } from '../../../../infra/local/gateway/route-table.ts';
import { startStandIns, type StandInHost } from '../../support/stand-in-host.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const folder = folderOfTests();
let host: StandInHost;
let gateway: Gateway;
const errors: string[] = [];

beforeAll(async () => {
  host = startStandIns(folder.path, 'threads');
  gateway = await openGateway(0, (message) => errors.push(message));
});
afterAll(async () => {
  await gateway.close();
  await host.functions.stop();
  await host.log.close();
});

const route = (routeKey: string, functionArn: string, timeoutMs = 30_000): HttpRoute => ({
  routeKey,
  functionArn,
  timeoutMs,
  authorization: 'NONE',
  apiId: 'api',
});
const ask = async (path: string, init?: RequestInit) => fetch(`${gateway.url}${path}`, init);
const eventOf = async (path: string, init?: RequestInit) => Object(await (await ask(path, init)).json()).event;

describe('the gateway', () => {
  it('answers 503 until it has routes', async () => {
    const answer = await ask('/echo/a/b');
    expect([answer.status, await answer.json()]).toEqual([503, { message: 'Service Unavailable' }]);
    const routes = ['GET /echo/{one}/{two}', 'POST /echo'].map((routeKey) => route(routeKey, 'shared'));
    gateway.serve([...routes, route('GET /hurried', 'shared', 50)], host.functions.caller);
  });

  it.each(['evil.example:4000', 'localhost.evil.example', '127.0.0.1.evil.example', '192.168.0.7:4000', ''])(
    'refuses a page whose own name, %j, was made to lead here, and calls nothing',
    async (named) => {
      const answer = await rawRequest(
        `POST /echo HTTP/1.1\r\nHost: ${named}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 403 [^]*host: wanted localhost or 127\.0\.0\.1, got/u);
    },
  );

  it.each(['localhost', 'LOCALHOST:4000', 'api.localhost:1', '127.0.0.1', '127.1.2.3:80', '[::1]:4000'])(
    'answers who asks for it as %s',
    async (named) => {
      expect(await rawRequest(`GET /echo/a/b HTTP/1.1\r\nHost: ${named}\r\nConnection: close\r\n\r\n`)).toMatch(
        /^HTTP\/1\.1 201 /u,
      );
    },
  );

  it('hands on a request as payload 2.0', async () => {
    const event = await eventOf('/echo/a%20b/%C3%A9%2Fz?x=1&y=%26&x=2', {
      headers: { 'X-Thing': 'yes', Cookie: 'c=1; d=2' },
    });
    expect(event).toMatchObject({
      version: '2.0',
      routeKey: 'GET /echo/{one}/{two}',
      rawPath: '/echo/a b/é/z',
      rawQueryString: 'x=1&y=%26&x=2',
      queryStringParameters: { x: '1,2', y: '&' },
      pathParameters: { one: 'a b', two: 'é/z' },
      cookies: ['c=1', 'd=2'],
      headers: { 'x-thing': 'yes', host: `127.0.0.1:${gateway.port}` },
      requestContext: {
        stage: '$default',
        routeKey: 'GET /echo/{one}/{two}',
        http: { method: 'GET', path: '/echo/a b/é/z', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1' },
      },
      isBase64Encoded: false,
    });
    expect(event.headers).not.toHaveProperty('cookie');
    expect(event.requestContext.time).toMatch(/^\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d \+0000$/u);
    expect(event).not.toHaveProperty('body');
  });

  it('hands on text as text and other bodies as base64', async () => {
    expect(await eventOf('/echo', { method: 'POST', body: '{"é":1}' })).toMatchObject({
      body: '{"é":1}',
      isBase64Encoded: false,
    });
    expect(await eventOf('/echo', { method: 'POST', body: Buffer.from([0xff, 0x00]) })).toMatchObject({
      body: '/wA=',
      isBase64Encoded: true,
    });
    expect(await eventOf('/echo', { method: 'POST' })).not.toHaveProperty('queryStringParameters');
  });

  it("gives the function's status, headers, cookies and body, with a request id", async () => {
    const answer = await ask('/echo/a/b');
    expect(answer.status).toBe(201);
    expect(answer.headers.get('x-stand-in')).toBe('yes');
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(Object(await answer.json()).event.requestContext.requestId).toBe(answer.headers.get('apigw-requestid'));
    const plain = await ask('/echo/a/b?plain=yes');
    expect([plain.status, plain.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await plain.json()).toEqual({ plain: 'yes' });
  });

  it.each([0, 1, 1000, 100_000, 4_700_000])('gives %i bytes that came in base64 as they are', async (bytes) => {
    const answer = await ask(`/echo/a/b?binary=${bytes}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-length')).toBe(String(bytes));
    const wanted = Buffer.alloc(bytes, Uint8Array.of(0xff, 0x00, 0x80));
    expect(wanted.equals(new Uint8Array(await answer.arrayBuffer()))).toBe(true);
  });

  it.each([
    ['no route', '/other', {}, 404, 'Not Found'],
    ['another method', '/echo', {}, 404, 'Not Found'],
    ['broken percent-encoding', '/echo/a/%zz', {}, 400, 'Bad Request'],
    ['a function that throws', '/echo/a/b?throw=why', {}, 500, 'Internal Server Error'],
    ['a function that takes too long', '/hurried?sleep=300', {}, 503, 'Service Unavailable'],
    ['more than a function takes', '/echo', { method: 'POST', body: 'x'.repeat(6_291_556) }, 413, 'Request Too Long'],
    ['more than a function gives', '/echo/a/b?bytes=6291556', {}, 500, 'Internal Server Error'],
    ['more in base64', '/echo/a/b?binary=4718700', {}, 500, 'Internal Server Error'],
  ])('answers %s by itself', async (_, path, init, status, message) => {
    const answer = await ask(path, init);
    expect([answer.status, await answer.json()]).toEqual([status, { message }]);
  });

  it('takes no more than 10 MB, whatever is sent', async () => {
    const answer = await rawRequest(
      `POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50000000\r\n\r\n${'x'.repeat(10_485_761)}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*Request Entity Too Large/u);
  });

  it('takes no more than 10,240 bytes of request line and headers', async () => {
    expect(await rawRequest(`GET /echo/a/b HTTP/1.1\r\nhost: x\r\nx-long: ${'y'.repeat(10_240)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /u,
    );
  });

  it('says when a port is taken', async () => {
    await expect(openGateway(gateway.port, () => {})).rejects.toThrow(
      `--port: wanted a free port, got ${gateway.port}, which is in use`,
    );
  });

  it('answers what was asked before it closes', async () => {
    const closing = await openGateway(0, () => {});
    closing.serve([route('GET /echo/{one}/{two}', 'shared')], host.functions.caller);
    const slow = fetch(`${closing.url}/echo/a/b?sleep=200`);
    await expect.poll(async () => (await fetch(`${closing.url}/x`)).status).toBe(404);
    await closing.close();
    expect((await slow).status).toBe(201);
    await expect(fetch(`${closing.url}/echo/a/b`)).rejects.toThrow('fetch failed');
  });

  it('refuses more calls of a function than may be under way, says when to come back, and leaves other functions alone', async () => {
    const busy = await openGateway(0, () => undefined);
    onTestFinished(() => busy.close());
    const ends: (() => void)[] = [];
    const routes = [route('GET /slow', 'slow'), route('GET /other', 'other')];
    busy.serve(
      routes,
      (functionArn) => () =>
        functionArn === 'slow'
          ? new Promise((resolve) => ends.push(() => resolve({ text: '"done"' })))
          : Promise.resolve({ text: '"other"' }),
    );
    const calls = Array.from({ length: GATEWAY_LIMITS.callsAtOnce }, () => fetch(`${busy.url}/slow`));
    await expect.poll(() => ends.length).toBe(GATEWAY_LIMITS.callsAtOnce);
    const refused = await fetch(`${busy.url}/slow`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await fetch(`${busy.url}/other`)).status).toBe(200);
    for (const end of ends) end();
    expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([200]));
    const next = fetch(`${busy.url}/slow`);
    await expect.poll(() => ends.length).toBe(GATEWAY_LIMITS.callsAtOnce + 1);
    ends.at(-1)?.();
    expect((await next).status).toBe(200);
  });
});

describe('pages of other origins', () => {
  const PAGE = 'http://localhost:5173';
  const RULES: CorsRules = {
    origins: [PAGE],
    methods: ['GET', 'PUT'],
    headers: ['content-type', 'x-request-id'],
    exposed: ['x-request-id'],
    maxAgeSeconds: 3600,
  };
  const withGateway = async (
    rules: CorsRules | undefined,
    use: (
      send: (method: string, headers: Record<string, string>) => Promise<Response>,
      called: readonly string[],
    ) => Promise<void>,
  ): Promise<void> => {
    const open = await openGateway(0, () => undefined);
    const called: string[] = [];
    try {
      open.serve(
        ['GET', 'PUT', 'POST', 'DELETE'].map((method) => ({
          ...route(`${method} /cells`, method),
          authorization: 'AWS_IAM',
        })),
        (method) => async () => {
          called.push(method);
          return { text: JSON.stringify({ statusCode: 200, headers: { vary: 'accept' }, body: 'a cell' }) };
        },
        rules,
      );
      await use((method, headers) => fetch(`${open.url}/cells`, { method, headers }), called);
    } finally {
      await open.close();
    }
  };
  const corsOf = ({ headers }: Response): Record<string, string> =>
    Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
  const PREFLIGHT = { origin: PAGE, 'access-control-request-method': 'PUT' };

  it('are told by the gateway what they may, before any function is asked, and get the answer', async () => {
    await withGateway(RULES, async (send) => {
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
  });

  it('get nothing that lets a browser show it to them, where they are not named', async () => {
    await withGateway(RULES, async (send) => {
      const other = { ...PREFLIGHT, origin: 'http://elsewhere.example' };
      expect(corsOf(await send('OPTIONS', other))).toEqual({});
      expect(corsOf(await send('GET', { origin: other.origin }))).toEqual({});
      // No browser.
      expect(corsOf(await send('GET', {}))).toEqual({});
    });
    await withGateway(undefined, async (send) => {
      expect((await send('OPTIONS', PREFLIGHT)).status).toBe(404);
      expect(corsOf(await send('GET', { origin: PAGE }))).toEqual({});
    });
  });

  it.each([
    ['of some origins', RULES],
    ['of none', undefined],
  ])('change nothing where the pages %s may ask, with requests that a browser sends unasked', async (_, rules) => {
    await withGateway(rules, async (send, called) => {
      for (const origin of ['http://elsewhere.example', 'http://localhost:5173.elsewhere.example', 'null'])
        for (const method of ['POST', 'PUT', 'DELETE']) {
          const answer = await send(method, { origin, 'content-type': 'text/plain' });
          expect([answer.status, await answer.json()]).toEqual([
            403,
            { message: expect.stringMatching(/^origin: wanted .+, got .+--cors/u) },
          ]);
        }
      expect(called).toEqual([]);
      // No browser.
      expect((await send('DELETE', {})).status).toBe(200);
      expect(called).toEqual(['DELETE']);
    });
  });

  it.each(['http://localhost', 'http://localhost:5173', 'http://127.0.0.1:80', 'http://[::1]:5173'])(
    'of this machine ask and change, at whatever port: %s',
    async (origin) => {
      const { corsOrigins } = localEnvironment({});
      await withGateway({ ...RULES, origins: corsOrigins }, async (send) => {
        expect(corsOf(await send('OPTIONS', { ...PREFLIGHT, origin }))).toMatchObject({
          'access-control-allow-origin': origin,
        });
        const changed = await send('DELETE', { origin });
        expect([changed.status, corsOf(changed)['access-control-allow-origin']]).toEqual([200, origin]);
      });
    },
  );

  it.each([
    'https://elsewhere.example',
    'http://localhost.elsewhere.example:80',
    'http://localhost:5173.elsewhere.example',
    'http://elsewhere.example/?http://localhost:5173',
    'http://127.0.0.1.elsewhere.example',
    'null',
  ])('of elsewhere are not those of this machine: %s', async (origin) => {
    const { corsOrigins } = localEnvironment({});
    await withGateway({ ...RULES, origins: corsOrigins }, async (send) => {
      expect(corsOf(await send('OPTIONS', { ...PREFLIGHT, origin }))).toEqual({});
      expect((await send('POST', { origin })).status).toBe(403);
    });
  });

  it('are told apart by caches, wherever the answer depends on the page', async () => {
    await withGateway(RULES, async (send) => {
      for (const headers of [{}, { origin: PAGE }, { origin: 'http://elsewhere.example' }] as Record<string, string>[])
        expect((await send('GET', headers)).headers.get('vary')).toBe('accept, origin');
      expect((await send('OPTIONS', PREFLIGHT)).headers.get('vary')).toBe('origin');
    });
  });

  it('are all let in by a wildcard', async () => {
    await withGateway({ ...RULES, origins: ['*'] }, async (send) => {
      const answer = await send('DELETE', { origin: 'http://elsewhere.example' });
      expect(answer.status).toBe(200);
      expect(corsOf(answer)).toMatchObject({ 'access-control-allow-origin': '*' });
      expect(answer.headers.get('vary')).toBe('accept');
    });
  });
});

it('each answer is told with its ids, and nothing of a query', async () => {
  const told: AccessLine[] = [];
  const open = await openGateway(0, () => undefined, { onAnswer: (line) => told.push(line) });
  onTestFinished(() => open.close());
  const text = JSON.stringify({ statusCode: 200, headers: { 'x-request-id': 'order-17' } });
  open.serve([route('GET /cells', 'read')], () => async () => ({ text, body: 'a cell' }));
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await fetch(`${open.url}/cells?secret=1`, { headers: { traceparent } });
  await fetch(`${open.url}/nothing`, { headers: { traceparent: 'no trace at all' } });
  await expect
    .poll(() => told)
    .toEqual([
      {
        request_id: 'order-17',
        gateway_request_id: expect.stringMatching(/^[\da-f-]{36}$/u),
        traceparent,
        route: 'GET /cells',
        method: 'GET',
        path: '/cells',
        status: 200,
        milliseconds: expect.any(Number),
      },
      { request_id: '', method: 'GET', path: '/nothing', status: 404, milliseconds: expect.any(Number) },
    ]);
});

/** What a server says to a request of any shape, until it closes or one second has passed. */
async function rawRequest(text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(gateway.port, '127.0.0.1', () => socket.write(text));
    const end = (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, end);
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('close', end);
    socket.on('error', end);
  });
}
