import { beforeAll, describe, expect, it } from 'vitest';
import { gatewayResult } from '../../functions/http/answer.ts';
import { encodeBody, unpackSized } from '../../shared/body/codec.ts';
import { parseJson } from '../../shared/body/json.ts';
import { readMessagePack } from '../../shared/body/read-message-pack.ts';
import type { Json } from '../../shared/cell.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import { shardOf } from '../../shared/address.ts';
import { fakeDeployment, SHARDS } from './support/fake-deployment.ts';
import { gateway, gatewayFetch, type GatewayAnswer, type GatewayRequest } from './support/gateway.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const DRIVER = '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10';
const SHARD = shardOf(ROW, SHARDS);
const PACK = 'application/vnd.msgpack';
const LONG = 'so long that it is stored compressed '.repeat(5);
const BODIES: Readonly<Record<string, Json>> = {
  BASE: { driver_uuid: DRIVER, city: 'Lisbon', note: LONG, large: 2n ** 64n - 1n, small: -(2n ** 63n), price: 0.1 },
  SHORT: { fare: 1, at: 1_769_846_400_123 },
  NULL: null,
  TEXT: `${LONG}ÄÖ€🚲"\\\n`,
  DEEP: parseJson(`${'['.repeat(100)}"${LONG}"${']'.repeat(100)}`),
};

/** Bodies as a store leaves them that need not read them: as they were written. */
function packing(trips: Datastore): Partial<Datastore> {
  const through = <Answer>(options: { readonly packed?: boolean | undefined } | undefined, answer: Answer): Answer =>
    options?.packed === true ? repack(answer) : answer;
  return {
    get: async (address, options) => through(options, await trips.get(address, options)),
    getLatest: async (key, options) => through(options, await trips.getLatest(key, options)),
    versions: async (key, options) => through(options, await trips.versions(key, options)),
    row: async (row, options) => through(options, await trips.row(row, options)),
    batchGet: async (keys, options) => through(options, await trips.batchGet(keys, options)),
    log: async (locations, options) => through(options, await trips.log(locations, options)),
    query: async (query) => through(query, await trips.query(query)),
  };
}

function repack<Answer>(answer: Answer): Answer {
  if (Array.isArray(answer)) return answer.map(repack) as Answer;
  if (typeof answer !== 'object' || answer === null || answer instanceof Error) return answer;
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [
      name,
      name === 'body' ? unpackSized(encodeBody(value as Json)).body : repack(value),
    ]),
  ) as Answer;
}

const deployment = fakeDeployment();
const ask = gateway({
  ...deployment,
  datastore: async (name) => ({ ...(await deployment.datastore(name)), ...packing(deployment.trips) }),
});
const both = async (request: GatewayRequest): Promise<readonly [GatewayAnswer, GatewayAnswer]> => [
  await ask({ ...request, headers: { 'x-request-id': 'one' } }),
  await ask({ ...request, headers: { 'x-request-id': 'one', accept: PACK } }),
];
const get = (path: string): GatewayRequest => ({ method: 'GET', path: `/v1/trips/${path}` });
const post = (path: string, body: object): GatewayRequest => ({
  method: 'POST',
  path: `/v1/trips/${path}`,
  body: JSON.stringify(body),
});

beforeAll(async () => {
  for (const [column_name, body] of Object.entries(BODIES))
    for (const ref_key of [0, 1]) await deployment.trips.put({ row_key: ROW, column_name, ref_key, body });
});

describe('answers in MessagePack', () => {
  it.each([
    ['cells', get(`cells/${ROW}/BASE/1`)],
    ['cells without a value', get(`cells/${ROW}/NULL/0`)],
    ['latest cells', get(`cells/${ROW}/SHORT`)],
    ['deep ones', get(`cells/${ROW}/DEEP`)],
    ['versions', get(`cells/${ROW}/TEXT/versions`)],
    ['rows', get(`rows/${ROW}`)],
    [
      'batches',
      post('batch-get', {
        keys: [
          { row_key: ROW, column_name: 'BASE' },
          { row_key: ROW, column_name: 'NONE' },
        ],
      }),
    ],
    [
      'many reads',
      post('batch-read', { targets: [`cells/${ROW}/BASE`, `cells/${ROW}/NONE`, `rows/${ROW}`, 'cells/x/BASE'] }),
    ],
    ['a log', get(`shards/${SHARD}/cells?after=0`)],
    [
      'logs',
      post('log', {
        locations: [
          { shard: SHARD, after: 1 },
          { shard: (SHARD + 1) % SHARDS, after: 0 },
        ],
      }),
    ],
    ['entries with cells', get(`indexes/driver_index?driver_uuid=${DRIVER}&column=BASE&column=SHORT`)],
    [
      'many queries',
      post('batch-query', { targets: [`indexes/driver_index?driver_uuid=${DRIVER}&column=*`, 'indexes/none?a=1'] }),
    ],
  ])('say the same as those in JSON: %s', async (_, request) => {
    const [json, packed] = await both(request);
    expect(json.headers).toMatchObject({ 'content-type': 'application/json', vary: 'accept' });
    expect(packed.headers).toMatchObject({ 'content-type': PACK, vary: 'accept', 'x-request-id': 'one' });
    expect(packed.status).toBe(200);
    // Of JSON only the exact reader keeps integers of 64 bits.
    expect(readMessagePack(packed.bytes)).toEqual(parseJson(json.text, { maxDepth: 200 }));
  });

  it.each([
    ['no cell', get(`cells/${ROW}/NONE`), 404],
    ['a bad request', get(`rows/x`), 400],
    ['a bad batch', post('batch-get', { keys: [{}] }), 400],
  ])('are problems in JSON all the same: %s', async (_, request, status) => {
    const [json, packed] = await both(request);
    expect(packed).toMatchObject({ status, headers: { 'content-type': 'application/problem+json' } });
    expect(packed.text).toBe(json.text);
  });

  it.each([
    [get('shards')],
    [get(`indexes/driver_index?driver_uuid=${DRIVER}`)],
    [get('indexes/driver_index')],
    [post('batch-query', { targets: [`indexes/driver_index?driver_uuid=${DRIVER}`] })],
    [{ method: 'PUT', path: `/v1/trips/cells/${DRIVER}/PUT/1`, body: '1' }],
  ])('are JSON where there are no bodies: %j', async (request) => {
    for (const { headers } of await both(request)) expect(headers['content-type']).toBe('application/json');
  });

  it.each([
    [PACK, true],
    ['application/msgpack', false],
    ['Application/Vnd.MsgPack; q=0.8, application/json;q=0.5', true],
    [`application/json, ${PACK}`, true],
    [`application/json, ${PACK};q=0.9`, false],
    [`${PACK};q=0`, false],
    ['*/*', false],
    ['application/*', false],
    ['application/json', false],
    ['application/vnd.msgpackage', false],
  ])('go to who names it: %s, %s', async (accept, isPacked) => {
    const { headers } = await ask({ ...get(`cells/${ROW}/BASE`), headers: { accept } });
    expect(headers['content-type']).toBe(isPacked ? PACK : 'application/json');
  });

  it.each(['{"__proto__":{"a":1}}', `{"2":"${LONG}","1":1}`])(
    'are JSON where only JSON can say it: %s',
    async (text) => {
      const column_name = 'ODD';
      const odd = fakeDeployment();
      await odd.trips.put({ row_key: ROW, column_name: 'BASE', ref_key: 0, body: BODIES['BASE'] ?? null });
      await odd.trips.put({ row_key: ROW, column_name, ref_key: 0, body: parseJson(text) });
      const asked = gateway({
        ...odd,
        datastore: async (name) => ({ ...(await odd.datastore(name)), ...packing(odd.trips) }),
      });
      for (const request of [
        get(`cells/${ROW}/${column_name}`),
        get(`rows/${ROW}`),
        post('batch-read', { targets: [`cells/${ROW}/BASE`, `rows/${ROW}`] }),
      ]) {
        const [json, packed] = [await asked(request), await asked({ ...request, headers: { accept: PACK } })];
        expect(packed.headers).toMatchObject({ 'content-type': 'application/json', vary: 'accept' });
        expect(packed.text).toBe(json.text);
        expect(packed.text).toContain(text);
      }
    },
  );

  it('are JSON where MessagePack would be over the 6 MB that a function may answer', () => {
    // Nine bytes each in MessagePack, three and a comma in JSON.
    const body = Array.from({ length: 520_000 }, () => 0.5);
    const result = gatewayResult({ status: 200, body, packed: true }, 'request-1');
    expect(result).toMatchObject({ headers: { 'content-type': 'application/json' }, isBase64Encoded: false });
    expect(result.body?.length).toBe(body.length * 4 + 2);
    const half = gatewayResult({ status: 200, body: body.slice(260_000), packed: true }, 'request-1');
    expect(half.headers).toMatchObject({ 'content-type': PACK });
  });

  it('are what the client asks for, unless it is told otherwise', async () => {
    for (const messagePack of [undefined, true, false]) {
      const types = new Set<string | null>();
      const fetched = gatewayFetch(ask);
      const trips = schemalessClient({
        url: 'http://store.test',
        datastore: 'trips',
        ...(messagePack === undefined ? {} : { messagePack }),
        fetch: async (...request) => {
          const response = await fetched(...request);
          types.add(response.headers.get('content-type'));
          return response;
        },
      });
      for (const [column_name, body] of Object.entries(BODIES)) {
        expect((await trips.getLatest({ row_key: ROW, column_name })).cell?.body).toEqual(body);
        expect((await trips.get({ row_key: ROW, column_name, ref_key: 0 })).cell?.body).toEqual(body);
      }
      expect((await trips.row(ROW)).cells.map(({ column_name, body }) => [column_name, body]).toSorted()).toEqual(
        Object.entries(BODIES).toSorted(),
      );
      expect([...types]).toEqual([messagePack === false ? 'application/json' : PACK]);
    }
  });
});
