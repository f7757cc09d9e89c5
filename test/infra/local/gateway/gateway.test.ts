import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { AccessLine } from '../../../../infra/local/gateway/http-exchange.ts';
import { GATEWAY_LIMITS, openGateway, type Gateway } from '../../../../infra/local/gateway/gateway.ts';
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

  it.each([
    ...['evil.example:4000', 'localhost.evil.example', '127.0.0.1.evil.example', '192.168.0.7:4000', ''].map(
      (name) => [name, /^HTTP\/1\.1 403 [^]*host: wanted localhost or 127\.0\.0\.1, got/u] as const,
    ),
    ...['localhost', 'LOCALHOST:4000', 'api.localhost:1', '127.0.0.1', '127.1.2.3:80', '[::1]:4000'].map(
      (name) => [name, /^HTTP\/1\.1 201 /u] as const,
    ),
  ])('answers a request by a name of this machine alone: %j', async (name, answer) => {
    expect(await rawRequest(`GET /echo/a/b HTTP/1.1\r\nHost: ${name}\r\n\r\n`)).toMatch(answer);
  });

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

  it.each([
    ['10 MB', `content-length: 50000000\r\n\r\n${'x'.repeat(10_485_761)}`, '413 [^]*Request Entity Too Large'],
    ['10,240 bytes of request line and headers', `x-long: ${'y'.repeat(10_240)}\r\n\r\n`, '431 '],
  ])('takes no more than %s', async (_, rest, answer) => {
    expect(await rawRequest(`POST /echo HTTP/1.1\r\nhost: localhost\r\n${rest}`)).toMatch(
      new RegExp(`^HTTP/1\\.1 ${answer}`, 'u'),
    );
  });

  it('says when a port is taken', async () => {
    await expect(openGateway(gateway.port, () => {})).rejects.toThrow(
      `--port: wanted a free port, got ${gateway.port}, which is in use`,
    );
  });

  it('answers what was asked before it closes', async () => {
    const closing = await openGateway(0, () => {});
    const [called, end] = [Promise.withResolvers<void>(), Promise.withResolvers<{ text: string }>()];
    closing.serve([route('GET /slow', 'slow')], () => async () => (called.resolve(), end.promise));
    const slow = fetch(`${closing.url}/slow`);
    await called.promise;
    const closed = closing.close();
    await expect.poll(() => fetch(`${closing.url}/slow`).then(String, String)).toContain('fetch failed');
    end.resolve({ text: '"done"' });
    expect((await slow).status).toBe(200);
    await closed;
  });

  it('refuses more calls of a function than may be under way, and leaves other functions alone', async () => {
    const busy = await openGateway(0, () => undefined);
    onTestFinished(() => busy.close());
    const ends: (() => void)[] = [];
    busy.serve(
      ['slow', 'other'].map((name) => route(`GET /${name}`, name)),
      (functionArn) => async () => {
        if (functionArn === 'slow') await new Promise<void>((resolve) => ends.push(resolve));
        return { text: '"done"' };
      },
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

/** Sends a request of any shape. Returns the first response, or the bytes until the server closed. */
async function rawRequest(text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(gateway.port, '127.0.0.1', () => socket.write(text));
    const end = (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('data', (chunk) => {
      answer += chunk.toString();
      const [head = '', body] = answer.split('\r\n\r\n');
      if (body !== undefined && body.length >= Number(/content-length: (\d+)/iu.exec(head)?.[1])) end();
    });
    socket.on('close', end);
    socket.on('error', end);
  });
}
