import { randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { encodeBody, FORMAT } from '../../../shared/body/codec.ts';
import { parseJson, stringifyJson } from '../../../shared/body/json.ts';
import { readMessagePack } from '../../../shared/body/read-message-pack.ts';
import { LIMITS, type Json } from '../../../shared/cell.ts';
import { shardOf } from '../../../shared/address.ts';
import { gateway, type GatewayAnswer, type GatewayRequest } from '../../functions/support/gateway.ts';
import { failingDeployment } from '../../functions/support/fake-deployment.ts';
import { SUITE_INDEXES } from '../../support/index-conformance.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { change } from '../../support/plain-sql.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const DRIVER = '7a1d5b0e-1f0a-4d6e-8a53-3c1f5f2b9d10';
const SHARDS = 3;
const SHARD = shardOf(ROW, SHARDS);
const PACK = 'application/vnd.msgpack';
const LONG = 'long enough to be compressed '.repeat(9);
/** By column; those of ODD only JSON can say. */
const BODIES: Readonly<Record<string, Json>> = {
  BASE: { driver_uuid: DRIVER, note: LONG, large: 2n ** 64n - 1n, price: 0.1 },
  SHORT: { fare: 1 },
  NULL: null,
  DEEP: parseJson(`${'['.repeat(100)}"${LONG}"${']'.repeat(100)}`),
  RANDOM: randomBytes(3000).toString('latin1'),
  CHECKED: { text: LONG },
  UNCHECKED: { a: 1 },
  BROKEN: { text: LONG },
  ERASED: { text: LONG },
};
const ODD = `{"__proto__":{"note":"${LONG}"},"2":1,"1":"${LONG}"}`;
const DAMAGE: Readonly<Record<string, Buffer | null>> = {
  CHECKED: Buffer.from(encodeBody({ text: LONG })).fill(7, 9, 12),
  UNCHECKED: Buffer.from('0281a161c1', 'hex'),
  // Whole as far as its checksum goes, and yet no value.
  BROKEN: Buffer.concat([Buffer.of(FORMAT.messagePackZlib), deflateSync(Buffer.from('81a161c1', 'hex'))]),
  ERASED: null,
};

const { store, trips, name, clientOf, entity } = await sharedTrips(SHARDS, { indexes: SUITE_INDEXES });
const ask = gateway({ ...failingDeployment(new Error('no triggers here')), ...store.deployment });
for (const [column_name, body] of Object.entries(BODIES))
  await trips.put({ row_key: ROW, column_name, ref_key: 0, body });
for (let ref_key = 0; ref_key < 30; ref_key += 1)
  await trips.put({ row_key: DRIVER, column_name: 'FULL', ref_key, body: largeBody(ref_key) });
for (const [column, body] of Object.entries(DAMAGE))
  await change(clientOf(SHARD), `UPDATE ${entity(SHARD)} SET body = ? WHERE column_name = ?`, body, column);

/** Of so many decimals, each of which takes more in MessagePack, and of text that deflates to next to nothing. */
function largeBody(ref_key: number): Json {
  return ref_key % 2 === 0
    ? Array.from({ length: 24_000 }, (_, position) => position + 0.5)
    : { ref_key, text: '"'.repeat(200_000) };
}

const get = (path: string): GatewayRequest => ({ method: 'GET', path: `/v1/${name}/${path}` });
const post = (path: string, body: object): GatewayRequest => ({
  method: 'POST',
  path: `/v1/${name}/${path}`,
  body: JSON.stringify(body),
});

/** Asks for reads together until none was left out, as the others were done so much sooner on a busy machine. */
async function askWhole(request: GatewayRequest): Promise<GatewayAnswer> {
  for (;;) {
    const answer = await ask(request);
    const { answers } = answer.json as { readonly answers?: readonly unknown[] };
    if (answers?.includes(null) !== true) return answer;
  }
}

async function expectSame(request: GatewayRequest, type: string): Promise<Readonly<Record<string, Json>>> {
  const headers = { 'x-request-id': 'one' };
  const json = await askWhole({ ...request, headers });
  const packed = await askWhole({ ...request, headers: { ...headers, accept: PACK } });
  expect(packed.status).toBe(json.status);
  expect(packed.headers['content-type']).toBe(type);
  expect(packed.payloadBytes).toBeLessThan(6_000_000);
  const value = parseJson(json.text, { maxDepth: 200 });
  if (type === PACK) expect(stringifyJson(readMessagePack(packed.bytes))).toBe(stringifyJson(value));
  else expect(packed.text).toBe(json.text);
  return value as Readonly<Record<string, Json>>;
}

describe('reads of a store whose bodies stay packed', () => {
  it.each(Object.keys(BODIES).filter((column) => !(column in DAMAGE)))('answer the cell %s', async (column) => {
    expect(await expectSame(get(`cells/${ROW}/${column}`), PACK)).toMatchObject({ column_name: column });
  });

  it('refuse erased and damaged cells as they do in JSON', async () => {
    expect(await expectSame(get(`cells/${ROW}/ERASED`), 'application/problem+json')).toMatchObject({
      status: 410,
      code: 'erased',
      cell: { body: null, erased: true },
    });
    for (const column of ['CHECKED', 'UNCHECKED', 'BROKEN'])
      expect(await expectSame(get(`cells/${ROW}/${column}/0`), 'application/problem+json')).toMatchObject({
        code: 'undecodable_body',
      });
  });

  it('answer rows, batches, logs and entries, with errors in the places of damaged cells', async () => {
    const keys = Object.keys(BODIES).map((column_name) => ({ row_key: ROW, column_name }));
    const row = await expectSame(get(`rows/${ROW}`), PACK);
    expect((row['cells'] as readonly object[]).filter((cell) => 'error' in cell)).toHaveLength(3);
    await expectSame(post('batch-get', { keys }), PACK);
    await expectSame(get(`shards/${SHARD}/cells?after=0&limit=8`), PACK);
    await expectSame(post('log', { locations: [{ shard: SHARD, after: 0 }], limit: 8 }), PACK);
    await expectSame(get(`indexes/driver_index?driver_uuid=${DRIVER}&column=BASE&column=CHECKED`), PACK);
    const targets = [`rows/${ROW}`, ...keys.map(({ column_name }) => `cells/${ROW}/${column_name}`)];
    await expectSame(post('batch-read', { targets }), PACK);
    const queries = [`indexes/driver_index?driver_uuid=${DRIVER}&column=*`, 'indexes/none?a=1'];
    await expectSame(post('batch-query', { targets: queries }), PACK);
  });

  it('end their pages where those in JSON end, whatever bodies inflate to', async () => {
    for (let after = '', pages = 0; ; pages += 1) {
      const page = await expectSame(get(`cells/${DRIVER}/FULL/versions?order=asc${after}`), PACK);
      const bytes = Buffer.byteLength(stringifyJson(page['cells']));
      expect(bytes).toBeLessThanOrEqual(LIMITS.answerBytes);
      if (page['next'] === null) return expect(pages).toBeGreaterThan(0);
      after = `&after=${String(page['next'])}`;
    }
  });

  it('are JSON where one of the bodies is nothing for MessagePack', async () => {
    await trips.put({ row_key: ROW, column_name: 'ODD', ref_key: 0, body: parseJson(ODD) });
    for (const request of [
      get(`cells/${ROW}/ODD`),
      get(`rows/${ROW}`),
      post('batch-read', { targets: [`cells/${ROW}/ODD`] }),
    ])
      expect(stringifyJson(await expectSame(request, 'application/json'))).toContain(ODD);
  });
});
