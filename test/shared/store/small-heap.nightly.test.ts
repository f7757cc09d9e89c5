import { createHash } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeBody } from '../../../shared/body/codec.ts';
import { LIMITS } from '../../../shared/cell.ts';
import { rowKeyBytes, shardOf } from '../../../shared/address.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { indexOn } from '../../support/index-on.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { change } from '../../support/plain-sql.ts';
import { smallHeap } from './support/small-heap.ts';

/** 1 MiB of JSON, some 400 bytes stored, 14 MB of heap; forty of them are 560 MB. */
const LARGE = encodeBody(Array.from({ length: 349_000 }, () => []));
const COUNT = 40;
const SHARDS = 3;
const HEAP_MB = 192;

const { store, trips, name, clientOf, entity, rowIn } = await sharedTrips(SHARDS, {
  indexes: [indexOn('city_index', { city: 'string' })],
  bufferCopies: 0,
});
const heap = smallHeap(HEAP_MB, { topologyTable: store.topologyTable.table });
const row = rowIn(0);
const cells = Array.from({ length: COUNT }, () => cellOf({ body: { city: 'Lisbon' } }));
const rows = cells.map(({ row_key }) => row_key);

beforeAll(async () => {
  await trips.batchPut(cells);
  for (const [ref_key, row_key] of rows.entries()) {
    await insert(row, 'LARGE', ref_key);
    await insert(row, `COLUMN ${ref_key}`, 0);
    await insert(row_key, 'LARGE', 0);
  }
  const hash = createHash('sha256').update(LARGE).digest();
  for (let ref_key = 0; ref_key < COUNT; ref_key += 1)
    await change(
      store.client(store.groups[0]?.name ?? ''),
      "INSERT INTO schemaless.buffer (datastore, shard, row_key, column_name, ref_key, body, body_hash, created_at, writers, state) VALUES (?, 0, ?, 'LARGE', ?, ?, ?, '2026-01-01 00:00:00', 'a writer', 'conflict')",
      name,
      rowKeyBytes(row),
      ref_key,
      LARGE,
      hash,
    );
});

afterAll(async () => {
  for (const group of store.groups)
    await change(store.client(group.name), 'DELETE FROM schemaless.buffer WHERE datastore = ?', name);
});

/** Writes a cell as the store would, without the time that it takes to encode it. */
async function insert(row_key: string, column_name: string, ref_key: number): Promise<void> {
  const shard = shardOf(row_key, SHARDS);
  await change(
    clientOf(shard),
    `INSERT INTO ${entity(shard)} SELECT COALESCE(MAX(added_id), 0) + 1, ?, ?, ?, ?, COALESCE(MAX(created_at), '2026-01-01') FROM ${entity(shard)}`,
    rowKeyBytes(row_key),
    column_name,
    ref_key,
    LARGE,
  );
}

interface Answered {
  readonly status: number;
  readonly bytes: number;
  readonly bodies: number;
  readonly nulls: number;
  readonly refused: number;
}

interface Asked {
  readonly at?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

function ask(routeKey: string, { at = {}, query = '', body }: Asked): Promise<Answered> {
  const [method = '', path = ''] = routeKey.split(' ');
  return heap.run({
    work: 'request',
    handler: path.includes('index') || path.includes('query') ? 'query-index' : 'read-cells',
    event: {
      routeKey,
      rawPath: path,
      rawQueryString: query,
      headers: {},
      pathParameters: { datastore: name, ...at },
      requestContext: { requestId: 'request', http: { method, path } } as APIGatewayProxyEventV2['requestContext'],
      isBase64Encoded: false,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    },
  });
}

const FULL = { status: 200, bodies: 4 };
const NONE = { status: 200, bodies: 0, nulls: LIMITS.batchReads };
const GET = 'GET /v1/{datastore}';
const POST = 'POST /v1/{datastore}';
const index = 'city_index';
const many = <T>(target: (position: number) => T): T[] =>
  Array.from({ length: LIMITS.batchReads }, (_, position) => target(position));
const ofAllShards = Array.from({ length: 99 }, (_, position) => ({ shard: position % SHARDS, after: COUNT }));

describe(`a heap of ${HEAP_MB} MB is enough for an answer made of bodies that deflate a thousandfold`, () => {
  it.each<[string, string, Asked, Partial<Answered>]>([
    [
      'versions',
      `${GET}/cells/{row_key}/{column_name}/versions`,
      { at: { row_key: row, column_name: 'LARGE' }, query: 'limit=100' },
      FULL,
    ],
    ['a row', `${GET}/rows/{row_key}`, { at: { row_key: row } }, FULL],
    [
      'the log of one shard',
      `${GET}/shards/{shard}/cells`,
      { at: { shard: '0' }, query: `after=${COUNT}&limit=100` },
      FULL,
    ],
    ['logs of all shards', `${POST}/log`, { body: { locations: ofAllShards, limit: 1000 } }, FULL],
    [
      'a batch of cells',
      `${POST}/batch-get`,
      { body: { keys: rows.map((row_key) => ({ row_key, column_name: 'LARGE' })) } },
      { ...FULL, refused: COUNT - 4 },
    ],
    ['kept conflicts', `${GET}/buffer/conflicts`, { query: 'limit=100' }, FULL],
    [
      'cells of the rows that a query found',
      `${GET}/indexes/{index}`,
      { at: { index }, query: 'city=Lisbon&column=LARGE&limit=1000' },
      FULL,
    ],
    [
      'whole rows that a query found',
      `${GET}/indexes/{index}`,
      { at: { index }, query: 'city=Lisbon&column=*&limit=1000' },
      FULL,
    ],
    [
      'many reads of one cell',
      `${POST}/batch-read`,
      { body: { targets: many((position) => `cells/${rows[position % COUNT]}/LARGE`) } },
      { status: 200 },
    ],
    [
      'many reads of rows and versions',
      `${POST}/batch-read`,
      { body: { targets: many((position) => (position % 2 ? `rows/${row}` : `cells/${row}/LARGE/versions`)) } },
      NONE,
    ],
    [
      'many queries',
      `${POST}/batch-query`,
      { body: { targets: many(() => 'indexes/city_index?city=Lisbon&column=LARGE') } },
      NONE,
    ],
  ])('%s', async (_what, route, asked, wanted) => {
    const answer = await ask(route, asked);
    expect(answer).toMatchObject(wanted);
    expect(answer.bodies).toBeLessThan(5);
    if (answer.nulls > 0) expect(answer.bodies + answer.nulls).toBe(LIMITS.batchReads);
    expect(answer.bytes).toBeLessThan(LIMITS.answerBytes + 100_000);
  });

  it('and the same reads come to their ends, page by page', async () => {
    let cells = 0;
    for (let after: number | undefined; ;) {
      const page = await trips.versions({ row_key: row, column_name: 'LARGE' }, { limit: 10, after });
      cells += page.cells.length;
      if (page.next === null || cells > 12) break;
      after = page.next;
    }
    expect(cells).toBeGreaterThan(12);
    const lisbon = { index, where: { city: 'Lisbon' }, columns: ['LARGE'] };
    const { entries, next } = await trips.query(lisbon);
    expect([entries.length, next]).toEqual([4, expect.any(String)]);
  });
});
