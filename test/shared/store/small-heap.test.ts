import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { encodeBody } from '../../../shared/body/codec.ts';
import { LIMITS } from '../../../shared/cell.ts';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { rowKeyBytes } from '../../../shared/address.ts';
import { shardOf } from '../../../shared/shard.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import type { SmallHeapRead } from './support/reads-in-small-heap.ts';

/** 1 MiB of JSON, some 400 bytes stored, 14 MB of heap; a hundred of them are 1.4 GB. */
const LARGE = encodeBody(Array.from({ length: 349_000 }, () => []));
const COUNT = 100;
const SHARDS = 3;
const HEAP_MB = 192;
const CHILD = fileURLToPath(new URL('support/reads-in-small-heap.ts', import.meta.url));
const INDEX: IndexDefinition = {
  name: 'city_index',
  fields: [{ field: 'city', type: 'string', column_key: 'BASE' }],
  keys: [],
};

const run = promisify(execFile);
let store: RealStore;
let trips: Datastore;
let row: string;
let rows: string[];

beforeAll(async () => {
  store = await openRealStore({ datastores: { trips: SHARDS }, indexes: { trips: [INDEX] }, bufferCopies: 0 });
  trips = await store.deployment.datastore(store.nameOf('trips'));
  [row = ''] = rowsOfShard(0, SHARDS, 1);
  const cells = Array.from({ length: COUNT }, () => cellOf({ body: { city: 'Lisbon' } }));
  rows = cells.map(({ row_key }) => row_key);
  await trips.batchPut(cells);
  for (const [ref_key, row_key] of rows.entries()) {
    await insert(row, 'LARGE', ref_key);
    await insert(row, `COLUMN ${ref_key}`, 0);
    await insert(row_key, 'LARGE', 0);
  }
  const client = store.client(store.groups[0]?.name ?? '');
  for (let ref_key = 0; ref_key < COUNT; ref_key += 1) {
    await client.change({
      sql: "INSERT INTO schemaless.buffer (datastore, shard, row_key, column_name, ref_key, body, body_hash, created_at, state) VALUES (?, 0, ?, 'LARGE', ?, ?, ?, '2026-01-01 00:00:00', 'conflict')",
      parameters: [
        store.nameOf('trips'),
        rowKeyBytes(row),
        ref_key,
        LARGE,
        createHash('sha256').update(LARGE).digest(),
      ],
    });
  }
}, 120_000);

afterAll(async () => {
  for (const { name } of store.groups)
    await store
      .client(name)
      .change({ sql: 'DELETE FROM schemaless.buffer WHERE datastore = ?', parameters: [store.nameOf('trips')] });
  await store.close();
});

/** Writes a cell as the store would, without the time that it takes to encode it. */
async function insert(row_key: string, column_name: string, ref_key: number): Promise<void> {
  const shard = shardOf(row_key, SHARDS);
  const table = `\`${store.nameOf('trips')}_000${shard}\`.entity`;
  await store.client((await store.topology.datastore(store.nameOf('trips')))?.places[shard]?.group ?? '').change({
    sql: `INSERT INTO ${table} SELECT COALESCE(MAX(added_id), 0) + 1, ?, ?, ?, ?, COALESCE(MAX(created_at), '2026-01-01') FROM ${table}`,
    parameters: [rowKeyBytes(row_key), column_name, ref_key, LARGE],
  });
}

interface Answered {
  readonly status: number;
  readonly bytes: number;
  readonly bodies: number;
  readonly nulls: number;
  readonly refused: number;
}

async function ask(
  routeKey: string,
  parameters: Readonly<Record<string, string>>,
  more: { readonly query?: string; readonly body?: unknown } = {},
): Promise<Answered> {
  const [method = '', path = ''] = routeKey.split(' ');
  const request: SmallHeapRead = {
    servers: inject('servers'),
    topologyTable: store.topologyTable.table,
    handler: path.includes('index') || path.includes('query') ? 'query-index' : 'read-cells',
    event: {
      routeKey,
      rawPath: path,
      rawQueryString: more.query ?? '',
      headers: {},
      pathParameters: { datastore: store.nameOf('trips'), ...parameters },
      requestContext: { requestId: 'request', http: { method, path } } as SmallHeapRead['event']['requestContext'] &
        object,
      isBase64Encoded: false,
      ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
    },
  };
  const { stdout } = await run(
    process.execPath,
    [`--max-old-space-size=${HEAP_MB}`, '--max-semi-space-size=8', CHILD, JSON.stringify(request)],
    { maxBuffer: 1e8 },
  );
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Answered;
}

const FULL = { status: 200, bodies: 4 };
const D = '/v1/{datastore}';

describe(
  `a heap of ${HEAP_MB} MB is enough for an answer made of bodies that deflate a thousandfold`,
  { timeout: 60_000 },
  () => {
    it.each<[string, () => Promise<Answered>, Partial<Answered>]>([
      [
        'versions',
        () =>
          ask(
            `GET ${D}/cells/{row_key}/{column_name}/versions`,
            { row_key: row, column_name: 'LARGE' },
            { query: 'limit=100' },
          ),
        FULL,
      ],
      ['a row', () => ask(`GET ${D}/rows/{row_key}`, { row_key: row }), FULL],
      [
        'the log of one shard',
        () => ask(`GET ${D}/shards/{shard}/cells`, { shard: '0' }, { query: `after=${COUNT}&limit=100` }),
        FULL,
      ],
      [
        'logs of all shards',
        () =>
          ask(
            `POST ${D}/log`,
            {},
            {
              body: {
                locations: Array.from({ length: 99 }, (_, place) => ({ shard: place % SHARDS, after: COUNT })),
                limit: 1000,
              },
            },
          ),
        FULL,
      ],
      [
        'a batch of cells',
        () =>
          ask(
            `POST ${D}/batch-get`,
            {},
            { body: { keys: rows.map((row_key) => ({ row_key, column_name: 'LARGE' })) } },
          ),
        { ...FULL, refused: COUNT - 4 },
      ],
      ['kept conflicts', () => ask(`GET ${D}/buffer/conflicts`, {}, { query: 'limit=100' }), FULL],
      [
        'cells of the rows that a query found',
        () =>
          ask(`GET ${D}/indexes/{index}`, { index: 'city_index' }, { query: 'city=Lisbon&column=LARGE&limit=1000' }),
        { status: 200, bodies: 4 },
      ],
      [
        'whole rows that a query found',
        () => ask(`GET ${D}/indexes/{index}`, { index: 'city_index' }, { query: 'city=Lisbon&column=*&limit=1000' }),
        { status: 200, bodies: 4 },
      ],
      [
        'many reads of one cell',
        () =>
          ask(
            `POST ${D}/batch-read`,
            {},
            { body: { targets: rows.slice(0, LIMITS.batchReads).map((row_key) => `cells/${row_key}/LARGE`) } },
          ),
        { status: 200 },
      ],
      [
        'many reads of rows and versions',
        () =>
          ask(
            `POST ${D}/batch-read`,
            {},
            {
              body: {
                targets: Array.from({ length: LIMITS.batchReads }, (_, place) =>
                  place % 2 ? `rows/${row}` : `cells/${row}/LARGE/versions`,
                ),
              },
            },
          ),
        { status: 200, bodies: 0, nulls: LIMITS.batchReads },
      ],
      [
        'many queries',
        () =>
          ask(
            `POST ${D}/batch-query`,
            {},
            {
              body: {
                targets: Array.from({ length: LIMITS.batchReads }, () => 'indexes/city_index?city=Lisbon&column=LARGE'),
              },
            },
          ),
        { status: 200, bodies: 0, nulls: LIMITS.batchReads },
      ],
    ])('%s', async (_what, answered, wanted) => {
      const answer = await answered();
      expect(answer).toMatchObject(wanted);
      // Of reads that go together those alone are answered that are done soon.
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
      const { entries, next } = await trips.query({
        index: 'city_index',
        where: [{ field: 'city', operator: 'eq', values: ['Lisbon'] }],
        columns: ['LARGE'],
      });
      expect([entries.length, next]).toEqual([4, expect.any(String)]);
    });
  },
);
