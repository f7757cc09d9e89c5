import { beforeAll, describe, expect, it } from 'vitest';
import { gatewayResult } from '../../functions/http/answer.ts';
import { parseJson } from '../../shared/body/json.ts';
import type { Json } from '../../shared/cell.ts';
import { schemalessClient } from '../../shared/client/client.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { gateway, gatewayFetch } from './support/gateway.ts';

// `test/shared/store/packed-reads.test.ts` compares these answers with those in JSON, and
// `test/shared/api/openapi.test.ts` tests which operations give them.

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const PACK = 'application/vnd.msgpack';
const LONG = 'so long that it is stored compressed '.repeat(5);
const BODIES: Readonly<Record<string, Json>> = {
  BASE: { city: 'Lisbon', note: LONG, large: 2n ** 64n - 1n, small: -(2n ** 63n), price: 0.1 },
  NULL: null,
  TEXT: `${LONG}ÄÖ€🚲"\\\n`,
  DEEP: parseJson(`${'['.repeat(100)}"${LONG}"${']'.repeat(100)}`),
};

const deployment = fakeDeployment();
const ask = gateway(deployment);
beforeAll(async () => {
  for (const [column_name, body] of Object.entries(BODIES))
    for (const ref_key of [0, 1]) await deployment.trips.put({ row_key: ROW, column_name, ref_key, body });
});

describe('answers in MessagePack', () => {
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
  ])('go to a client that names it: %s, %s', async (accept, isPacked) => {
    const { headers } = await ask({ method: 'GET', path: `/v1/trips/cells/${ROW}/BASE`, headers: { accept } });
    expect(headers).toMatchObject({ 'content-type': isPacked ? PACK : 'application/json', vary: 'accept' });
  });

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
