import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { requestIds } from '../../functions/environment/log.ts';
import { makeReadHandler } from '../../functions/read-cells.ts';
import { ROUTES } from '../../shared/api/operations.ts';
import { PATH } from '../../shared/api/path.ts';
import { SchemalessError } from '../../shared/errors.ts';
import type { Deployment } from '../../shared/store/deployment.ts';
import { failingDeployment, fakeDeployment } from './support/fake-deployment.ts';
import { gateway } from './support/gateway.ts';
import { keepLogLines } from './support/log-lines.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const PUT = { method: 'PUT', path: `/v1/trips/cells/${ROW}/BASE/1` };
const GET = { method: 'GET', path: `/v1/trips/cells/${ROW}/BASE/1` };
const SECRET = 'card 4111';

describe('every request', () => {
  const { messages, metrics, text: logged } = keepLogLines();

  it('that fails unexpectedly is answered without internals, and logged with them', async () => {
    const { status, json, text, headers } = await gateway(
      failingDeployment(new TypeError('password hunter2 at 10.0.0.7')),
    )(GET);
    expect({ status, json }).toMatchObject({
      status: 500,
      json: { code: 'internal', retry: 'later', request_id: headers['x-request-id'] },
    });
    expect(text).not.toMatch(/hunter2|10\.0\.0\.7|TypeError/);
    expect(messages()).toMatchObject([
      {
        level: 'ERROR',
        request_id: headers['x-request-id'],
        code: 'internal',
        error: { name: 'TypeError', message: 'password hunter2 at 10.0.0.7', stack: expect.any(String) },
      },
    ]);
  });

  it('is answered with a line that ends, so that answers in a terminal stand below each other', async () => {
    const ask = gateway(fakeDeployment());
    for (const request of [GET, { method: 'GET', path: '/v1/health' }, { method: 'GET', path: '/v1/nothing/shards' }])
      expect((await ask(request)).text).toMatch(/[^\n]\n$/u);
  });

  it('leaves lines with its id, and never anything of a body, nor the name of a subject', async () => {
    const ask = gateway(fakeDeployment());
    const forget = (body: object) =>
      ask({ method: 'POST', path: '/v1/trips/subjects/forget', body: JSON.stringify(body) });
    const answers = [
      await ask({ ...PUT, body: JSON.stringify({ note: SECRET }) }),
      await ask(GET),
      await ask({ ...PUT, body: `"${SECRET}" x` }),
      await ask({ ...PUT, body: `{"${SECRET}":1,"${SECRET}":2}` }),
      await ask({ method: 'POST', path: '/v1/trips/batch-put', body: JSON.stringify({ cells: [SECRET] }) }),
      await ask({ ...PUT, body: `"another ${SECRET}"` }),
      await forget({ subject: SECRET, reason: 'request 7' }),
      await forget({ subject: SECRET }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 400, 400, 400, 409, 200, 400]);
    const audits = messages().filter((line) => line['message'] === 'forgetting');
    expect(audits.map((line) => line['request_id'])).toEqual([6, 6].map((at) => answers[at]?.headers['x-request-id']));
    expect(messages().flatMap((line) => ('status' in line ? [line['request_id']] : []))).toEqual(
      answers.map(({ headers }) => headers['x-request-id']),
    );
    expect(logged()).not.toContain('4111');
  });

  it('counts how its writes ended', async () => {
    const ask = gateway(fakeDeployment());
    const cell = (ref_key: number, body: number) => ({ row_key: ROW, column_name: 'BASE', ref_key, body });
    const { headers } = await ask({
      method: 'POST',
      path: '/v1/trips/batch-put',
      body: JSON.stringify({ cells: [cell(1, 1), cell(2, 2), cell(1, 1), cell(1, 9)] }),
    });
    await ask({ ...PUT, body: '9' });
    await ask(GET);
    expect(metrics()).toMatchObject([
      { stored: 2, stored_before: 1, conflict: 1, request_id: headers['x-request-id'] },
      { conflict: 1 },
    ]);
    expect(metrics()[0]?.['_aws']).toMatchObject({ CloudWatchMetrics: [{ Namespace: 'Schemaless' }] });
  });

  it('counts what was not confirmed', async () => {
    await gateway(failingDeployment(new SchemalessError('unavailable', 'group-1 does not answer')))(GET);
    expect(metrics()).toMatchObject([{ unavailable: 1 }]);
  });

  it('counts an answer that an index is still built in its own metric, and not for a batch', async () => {
    const building = new SchemalessError('index_building', 'driver_index is being built: 5 of 9 cells');
    const ask = gateway(fakeDeployment({ query: () => Promise.reject(building) }));
    const target = 'indexes/driver_index?city=Lisbon';
    const [alone, batch] = [
      await ask({ method: 'GET', path: `/v1/trips/${target}` }),
      await ask({ method: 'POST', path: '/v1/trips/batch-query', body: JSON.stringify({ targets: [target, target] }) }),
    ];
    expect([alone.status, batch.status]).toEqual([503, 200]);
    const [first, second, ...others] = metrics();
    expect(first).toMatchObject({ index_building: 1, answered_index_building: 1 });
    expect(second).toMatchObject({ index_building: 2 });
    expect([Object.keys(second ?? {}).includes('answered_index_building'), others]).toEqual([false, []]);
  });

  it('is known by the id that its caller gave it, in the answer and in the log', async () => {
    const ask = gateway(fakeDeployment());
    const own = { 'x-request-id': 'Root=1-67891233-abcdef012345678912345678' };
    expect(await ask({ ...PUT, body: '1', headers: own })).toMatchObject({ status: 201, headers: own });
    const refused = await ask({ ...PUT, body: '{', headers: own });
    expect(refused).toMatchObject({ status: 400, headers: own, json: { request_id: own['x-request-id'] } });
    expect(messages()).toMatchObject([
      { request_id: own['x-request-id'], gateway_request_id: expect.stringMatching(/^request-/u) },
      { request_id: own['x-request-id'] },
    ]);
    expect(metrics()).toMatchObject([{ request_id: own['x-request-id'] }]);
  });

  it('is known to all that is done for it, whatever is done in parallel', async () => {
    const known: unknown[] = [];
    const slow = {
      ...fakeDeployment(),
      async health() {
        await new Promise((resolve) => setImmediate(resolve));
        known.push(requestIds());
        return [];
      },
    };
    const ask = gateway(slow);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const health = (headers: Record<string, string>) => ask({ method: 'GET', path: '/v1/health', headers });
    await Promise.all([
      health({ 'x-request-id': 'one', traceparent }),
      health({ 'x-request-id': 'two', traceparent: '00-0-0-01' }),
    ]);
    expect(known).toEqual([{ request_id: 'one', traceparent }, { request_id: 'two' }]);
    expect(messages()).toMatchObject([{ request_id: 'one', traceparent }, { request_id: 'two' }]);
    expect(messages()[1]).not.toHaveProperty('traceparent');
    expect(requestIds()).toEqual({});
  });

  it.each(['', 'two words', 'x'.repeat(129), 'a\nb', '"quoted"', 'é'])(
    'is known by the id of the gateway where its own is no plain word: %j',
    async (id) => {
      const { headers, json } = await gateway(fakeDeployment())({
        ...GET,
        path: '/v1/nope/shards',
        headers: { 'x-request-id': id },
      });
      expect(headers['x-request-id']).toMatch(/^request-\d+$/u);
      expect(json['request_id']).toBe(headers['x-request-id']);
    },
  );

  it.each([
    ['GET', '/v1/foo', undefined],
    ['GET', '/', undefined],
    ['POST', '/v1/trips/purge', undefined],
    ['GET', `/v1/trips/rows//`, undefined],
    ['DELETE', `/v1/trips/cells/${ROW}/BASE/1`, 'GET, HEAD, PUT'],
    ['POST', '/v1/trips/shards', 'GET, HEAD'],
    ['OPTIONS', '/v1/trips/log', 'POST'],
    ['PATCH', '/v1/trips/indexes/driver_index', 'DELETE, GET, HEAD'],
    ['PUT', '/v1/trips/erasures/subjects', 'GET, HEAD'],
    ['HEAD', '/v1/trips/batch-put', 'POST'],
    ['POST', '/v1/openapi.json', 'GET, HEAD'],
  ])('without an operation is refused with the methods of its path: %s %s', async (method, path, allow) => {
    const { status, headers, json } = await gateway(fakeDeployment())({ method, path });
    const expected = allow === undefined ? ['unknown_route', 404] : ['method_not_allowed', 405];
    expect([json['code'], status, headers['allow']]).toEqual([...expected, allow]);
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json',
      'x-request-id': expect.stringMatching(/^request-/u),
    });
    expect(json).toMatchObject({
      status,
      retry: 'never',
      detail: expect.stringContaining(allow === undefined ? `${method} ${path}` : `wanted ${allow}, got ${method}`),
      request_id: headers['x-request-id'],
    });
  });

  it.each(ROUTES.filter(({ method }) => method === 'GET').map(({ operation, path }) => [operation, path]))(
    'of %s by HEAD is answered as by GET',
    async (operation, path) => {
      const filled = path.replaceAll(/\{(\w+)\}/gu, (_, name: keyof typeof PATH) => String(PATH[name].example));
      const [get, head] = [gateway(fakeDeployment()), gateway(fakeDeployment())];
      const own = { headers: { 'x-request-id': 'one' }, path: filled };
      const [answer, other] = [await get({ ...own, method: 'GET' }), await head({ ...own, method: 'HEAD' })];
      // The gateway drops the body.
      expect(other).toEqual({ ...answer, operation });
      expect(answer.json['code']).not.toBe('unknown_route');
    },
  );

  it.each([
    ['gzip', 415, 'unsupported_encoding'],
    ['gzip, identity', 415, 'unsupported_encoding'],
    ['Identity', 201, undefined],
  ])('with a body in the content encoding %s is answered %s', async (encoding, status, code) => {
    const answer = await gateway(fakeDeployment())({ ...PUT, body: '1', headers: { 'content-encoding': encoding } });
    expect([answer.status, answer.json['code']]).toEqual([status, code]);
  });

  it('is answered before its own time is up, whatever is done in parallel', async () => {
    const { promise, resolve } = Promise.withResolvers<[]>();
    const handler = makeReadHandler((): Deployment => ({ ...fakeDeployment(), health: () => promise }));
    const ask = (leftMs: number) =>
      Promise.all(
        Array.from({ length: 32 }, () => handler(HEALTH, { getRemainingTimeInMillis: () => leftMs } as Context)),
      );
    const patient = ask(1_000_000);
    for (const answer of await ask(260))
      expect(answer).toMatchObject({
        statusCode: 503,
        headers: { 'retry-after': '1', 'x-request-id': 'request-a' },
        body: expect.stringContaining('"code":"unavailable"'),
      });
    resolve([]);
    for (const { body } of await patient) expect(body).toContain('"groups":[]');
  });
});

const HEALTH = {
  routeKey: 'GET /v1/health',
  rawPath: '/',
  rawQueryString: '',
  requestContext: { requestId: 'request-a', http: { method: 'GET' } },
} as unknown as APIGatewayProxyEventV2;
