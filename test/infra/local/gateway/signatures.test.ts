import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { checkSignature } from '../../../../infra/local/gateway/check-signature.ts';
import { openGateway, type Gateway } from '../../../../infra/local/gateway/gateway.ts';
import type { HttpRoute } from '../../../../infra/local/gateway/route-table.ts';
import { schemalessClient } from '../../../../shared/client/client.ts';
import { requestSigner } from '../../../../shared/client/sign-request.ts';
import { presignedPath } from './presigned-path.ts';

const CREDENTIALS = { accessKeyId: 'somebody', secretAccessKey: 'a secret' };
const sign = requestSigner('eu-west-1', CREDENTIALS);
const route = (routeKey: string, authorization: HttpRoute['authorization'] = 'AWS_IAM'): HttpRoute => ({
  routeKey,
  functionArn: routeKey,
  timeoutMs: 5000,
  authorization,
  apiId: 'api',
});
const ROUTES = [
  route('GET /v1/{datastore}/things/{thing}'),
  route('PUT /v1/{datastore}/things/{thing}'),
  route('GET /v1/{datastore}/others/{thing}'),
  route('GET /open', 'NONE'),
];

const callAny = (functionArn: string) => async () => (called.push(functionArn), ANSWER);

let gateway: Gateway;
const refused: string[] = [];
const called: string[] = [];

beforeAll(async () => {
  gateway = await openGateway(0, (message) => refused.push(message), { credentials: CREDENTIALS });
  gateway.serve(ROUTES, callAny);
});
afterAll(() => gateway.close());
beforeEach(() => {
  refused.length = 0;
  called.length = 0;
});

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

async function signed(sent: Sent, signer = sign): Promise<Sent> {
  const { method, path, headers, body } = sent;
  return { ...sent, headers: await signer({ method, url: new URL(`${gateway.url}${path}`), headers, body }) };
}

async function send({ method, path, headers, body }: Sent): Promise<readonly [number, unknown]> {
  const answer = await fetch(`${gateway.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  return [answer.status, await answer.json()];
}

const GET: Sent = { method: 'GET', path: '/v1/trips/things/a?limit=1', headers: {} };
const PUT: Sent = {
  method: 'PUT',
  path: '/v1/trips/things/a',
  headers: { 'content-type': 'application/json' },
  body: '{"fare":12}',
};
const ANSWER = { text: '{"called":true}' };
const FORBIDDEN = [403, { message: 'Forbidden' }];

describe('a gateway that checks signatures', () => {
  it.each<[string, Sent]>([
    ['without a body', GET],
    ['with a body', PUT],
    ['with a body beyond ASCII', { ...PUT, body: '{"city":"Łódź 🚕"}' }],
    ['with an encoded path', { ...GET, path: '/v1/trips/things/FARE%20ADJUSTMENT%2F%C3%A9' }],
    [
      'with a query of every kind',
      {
        ...GET,
        path: '/v1/trips/things/a?b=2&b=1&at%5Bgte%5D=2026-01-01T00%3A00%3A00%2B01%3A00&city=S%C3%A3o%20Paulo&column=*&empty=&~=%7E',
      },
    ],
  ])('lets a signed request through: %s', async (_, request) => {
    expect(await send(await signed(request))).toEqual([200, { called: true }]);
    expect(called).toEqual([`${request.method} /v1/{datastore}/things/{thing}`]);
    expect(refused).toEqual([]);
  });

  const another = (changes: object) => requestSigner('eu-west-1', { ...CREDENTIALS, ...changes });
  const sentTo = async (path: string): Promise<Sent> => ({ ...(await signed(GET)), path });
  const UNSIGNED = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };
  const lacking = (text: string) => text.replace('SignedHeaders=', 'SignedHeaders=constructor;');
  const NO_SIGNATURE = /it has no signature$/u;
  const OTHER_BODY = /its body is not the one that was signed$/u;
  const OTHER_REQUEST = /that of another request/u;
  const OTHER_DAY = /not of the same day$/u;
  const UNKNOWN_KEY = /the access key nobody is unknown$/u;

  it.each<[string, () => Promise<Sent>, RegExp]>([
    ['is not signed', async () => GET, NO_SIGNATURE],
    ['is signed in another way', async () => withHeader(GET, 'authorization', 'Bearer abc'), NO_SIGNATURE],
    ['is signed with another secret', () => signed(GET, another({ secretAccessKey: 'another' })), /another secret$/u],
    ['is signed with an unknown key', () => signed(GET, another({ accessKeyId: 'nobody' })), UNKNOWN_KEY],
    ['has another body than was signed', async () => ({ ...(await signed(PUT)), body: '{"fare":13}' }), OTHER_BODY],
    [
      'has a body though none was signed',
      async () => ({ ...(await signed({ ...PUT, body: undefined })), body: '{"fare":12}' }),
      OTHER_BODY,
    ],
    ['names the hash of another body', () => withSigned(PUT, 'x-amz-content-sha256', '0'.repeat(64)), OTHER_BODY],
    ['leaves its body out of the signature', () => signed({ ...PUT, headers: UNSIGNED }), OTHER_BODY],
    ['has another path than was signed', () => sentTo('/v1/trips/things/b?limit=1'), OTHER_REQUEST],
    ['has another query than was signed', () => sentTo('/v1/trips/things/a?limit=2'), OTHER_REQUEST],
    ['has more of a query than was signed', () => sentTo(`${GET.path}&X-Amz-Signature=1`), OTHER_REQUEST],
    ['has a broken query', () => sentTo('/v1/trips/things/a?limit=%zz'), OTHER_REQUEST],
    [
      'has a plus for a space in its query',
      () => signed({ ...GET, path: `${GET.path}&city=Sao+Paulo` }),
      OTHER_REQUEST,
    ],
    ['has another method than was signed', async () => ({ ...(await signed(GET)), method: 'PUT' }), OTHER_REQUEST],
    ['is sent to another route than was signed', () => sentTo('/v1/trips/others/a?limit=1'), OTHER_REQUEST],
    ['has another signed header', () => withSigned(PUT, 'content-type', 'text/plain'), OTHER_REQUEST],
    [
      'lacks a signed header',
      async () => changedHeader(await signed(GET), 'authorization', lacking),
      /names the headers constructor, which it lacks$/u,
    ],
    [
      'has a header of AWS that is not signed',
      () => withSigned(GET, 'x-amz-security-token', 'token'),
      /leaves out the headers x-amz-security-token$/u,
    ],
    ['was signed on another day than it says', () => withSigned(GET, 'x-amz-date', '20260131T080000Z'), OTHER_DAY],
    [
      'names no time',
      async () => changedHeader(await signed(GET), 'x-amz-date', (text) => `${text.slice(0, 8)}T996199Z`),
      OTHER_DAY,
    ],
  ])('refuses a request that %s, and calls no function', async (_, request, reason) => {
    expect(await send(await request())).toEqual(FORBIDDEN);
    expect(called).toEqual([]);
    expect(refused).toEqual([expect.stringMatching(reason)]);
  });

  it('refuses a signature that was made more than five minutes ago or ahead', async () => {
    const { method, path, headers, body } = await signed(PUT);
    const host = new URL(gateway.url).host;
    const received = { method, url: path, headers: { ...headers, host }, body: Buffer.from(body ?? '') };
    const made = Date.parse((headers['x-amz-date'] ?? '').replace(/(....)(..)(..)T(..)(..)/u, '$1-$2-$3T$4:$5:'));
    const judged = (minutes: number) => checkSignature(received, CREDENTIALS, made + minutes * 60_000);
    for (const minutes of [-4.9, 0, 4.9]) expect(await judged(minutes)).toBeUndefined();
    for (const minutes of [-5.1, 5.1, 60]) expect(await judged(minutes)).toMatch(/more than five minutes from now$/u);
  });

  it('refuses a signature for another service', async () => {
    const otherService = (text: string) => text.replace('/execute-api/', '/s3/');
    expect(await send(changedHeader(await signed(GET), 'authorization', otherService))).toEqual(FORBIDDEN);
    expect(refused).toEqual([expect.stringMatching(/it is signed for s3, not for execute-api$/u)]);
  });

  it('says in the log which path was refused, and nothing of its query', async () => {
    const query = 'driver_uuid=sEcReT&X-Amz-Signature=sEcReT';
    expect((await fetch(`${gateway.url}/v1/trips/things/a?${query}`)).status).toBe(403);
    expect(refused).toEqual([
      expect.stringMatching(/^[\da-f-]{36} refused GET \/v1\/trips\/things\/a: it has no signature$/u),
    ]);
  });

  describe('in the query, of a presigned URL', () => {
    const presigned = async (path: string, options?: Parameters<typeof presignedPath>[2], changes: object = {}) =>
      presignedPath(`${gateway.url}${path}`, { ...CREDENTIALS, ...changes }, options);
    const askedWith = async (part: string, other: string) => asked((await presigned(GET.path)).replace(part, other));
    const asked = async (path: string, changed: Partial<Sent> = {}) => send({ ...GET, path, ...changed });

    it('lets a request through while it holds', async () => {
      for (const path of ['/v1/trips/things/a', '/v1/trips/things/a?limit=1&city=S%C3%A3o%20Paulo'])
        expect(await asked(await presigned(path))).toEqual([200, { called: true }]);
      expect(refused).toEqual([]);
    });

    it.each<[string, () => Promise<readonly [number, unknown]>, RegExp]>([
      ['of another secret', async () => asked(await presigned(GET.path, {}, { secretAccessKey: 'x' })), OTHER_REQUEST],
      ['of nobody known', async () => asked(await presigned(GET.path, {}, { accessKeyId: 'nobody' })), UNKNOWN_KEY],
      ['of another path', () => askedWith('/a?', '/b?'), OTHER_REQUEST],
      ['of another query', () => askedWith('limit=1', 'limit=2'), OTHER_REQUEST],
      ['of another method', async () => asked(await presigned(GET.path, { method: 'PUT' })), OTHER_REQUEST],
      ['of a longer time', () => askedWith('Expires=60', 'Expires=61'), OTHER_REQUEST],
      [
        'whose time is over',
        async () => asked(await presigned(GET.path, { signingDate: new Date('2026-01-31T08:00:00Z') })),
        /more than 60 seconds from now$/u,
      ],
      ['twice over', async () => asked(`${await presigned(GET.path)}&X-Amz-Signature=${'0'.repeat(64)}`), NO_SIGNATURE],
      ['for longer than a week', () => askedWith('Expires=60', 'Expires=604801'), NO_SIGNATURE],
    ])('refuses one %s', async (_, ask, reason) => {
      expect(await ask()).toEqual(FORBIDDEN);
      expect(called).toEqual([]);
      expect(refused).toEqual([expect.stringMatching(reason)]);
    });
  });

  it('asks for none on a route without authorizer, and names the signer on others', async () => {
    const events: unknown[] = [];
    gateway.serve(ROUTES, () => async (event) => (events.push(JSON.parse(event)), ANSWER));
    await send(await signed(GET));
    expect(await send({ ...GET, path: '/open' })).toEqual([200, { called: true }]);
    gateway.serve(ROUTES, callAny);
    expect(events).toMatchObject([
      { requestContext: { authorizer: { iam: { accessKey: CREDENTIALS.accessKeyId } } } },
      { requestContext: {} },
    ]);
    expect(events[1]).not.toHaveProperty('requestContext.authorizer');
  });

  it('answers with a request id, which its log has too', async () => {
    const answer = await fetch(`${gateway.url}${GET.path}`);
    expect(refused[0]?.split(' ')[0]).toBe(answer.headers.get('apigw-requestid'));
  });

  it('understands what a client asks with spaces and signs', async () => {
    const client = schemalessClient({ url: gateway.url, datastore: 'trips', attempts: 1, sign });
    gateway.serve([route('GET /v1/{datastore}/indexes/{index}')], () => async () => ({
      text: '{"statusCode":200}',
      body: '{"entries":[],"next":null}',
    }));
    const where = { city: { in: ["São Paulo (SP) ~ * '+' &=", 'a b'] } };
    expect((await client.query({ index: 'plate_index', where })).entries).toEqual([]);
    gateway.serve(ROUTES, callAny);
  });
});

describe('a gateway that checks none', () => {
  it('lets every request through', async () => {
    const open = await openGateway(0, () => undefined);
    onTestFinished(() => open.close());
    open.serve(ROUTES, () => async () => ANSWER);
    for (const headers of [{}, { authorization: 'AWS4-HMAC-SHA256 nonsense' }] as Record<string, string>[])
      expect((await fetch(`${open.url}${GET.path}`, { headers })).status).toBe(200);
  });
});

function changedHeader(request: Sent, name: string, change: (value: string) => string): Sent {
  return withHeader(request, name, change(request.headers[name] ?? ''));
}

async function withSigned(request: Sent, name: string, value: string): Promise<Sent> {
  return withHeader(await signed(request), name, value);
}

function withHeader(request: Sent, name: string, value: string): Sent {
  return { ...request, headers: { ...request.headers, [name]: value } };
}
