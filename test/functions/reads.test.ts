import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { LIMITS, type Cell } from '../../shared/cell.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { shardOf } from '../../shared/address.ts';
import { fakeDeployment, SHARDS } from './support/fake-deployment.ts';
import { gateway } from './support/gateway.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const SHARD = shardOf(ROW, SHARDS);
const SERVED = { served_by: 'writer', stale: false } as const;
const DAMAGED: Cell = {
  row_key: ROW,
  column_name: 'BASE',
  ref_key: 1,
  body: null,
  added_id: 1,
  shard: SHARD,
  created_at: '2026-01-31T08:00:00.000000Z',
  error: new SchemalessError('undecodable_body', 'cannot decode it', {
    address: { row_key: ROW, column_name: 'BASE', ref_key: 1 },
  }),
};

describe('reads', () => {
  const deployment = fakeDeployment();
  const ask = gateway(deployment);
  const get = (path: string) => ask({ method: 'GET', path: `/v1/trips${path}` });
  const post = (path: string, body: unknown) =>
    ask({ method: 'POST', path: `/v1/trips${path}`, body: JSON.stringify(body) });

  beforeAll(async () => {
    for (const [column_name, ref_key] of [
      ['BASE', 1],
      ['BASE', 2],
      ['BASE', 5],
      ['FARE ADJUSTMENT', 0],
      ['a,b', 0],
    ] as const) {
      await deployment.trips.put({ row_key: ROW, column_name, ref_key, body: { ref_key } });
    }
  });

  it('answers one cell with who served it', async () => {
    const { status, json } = await get(`/cells/${ROW}/BASE/2`);
    expect(status).toBe(200);
    expect(json).toEqual({
      row_key: ROW,
      column_name: 'BASE',
      ref_key: 2,
      body: { ref_key: 2 },
      added_id: 2,
      shard: SHARD,
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
      ...SERVED,
    });
  });

  it('answers the latest cell of a column, of a name with a space, too', async () => {
    expect((await get(`/cells/${ROW}/BASE`)).json).toMatchObject({ ref_key: 5 });
    expect((await get(`/cells/${ROW}/FARE%20ADJUSTMENT`)).json).toMatchObject({ column_name: 'FARE ADJUSTMENT' });
  });

  it('answers 404 with the address and who found nothing', async () => {
    expect(await get(`/cells/${ROW}/BASE/3`)).toMatchObject({
      status: 404,
      json: { code: 'cell_not_found', address: { row_key: ROW, column_name: 'BASE', ref_key: 3 }, ...SERVED },
    });
    expect((await get(`/cells/${ROW}/NOTES`)).json['address']).toEqual({ row_key: ROW, column_name: 'NOTES' });
  });

  it('says on a 404 that the answer may be stale', async () => {
    const stale = gateway(fakeDeployment({ get: async () => ({ cell: null, served_by: 'reader', stale: true }) }));
    expect(await stale({ method: 'GET', path: `/v1/trips/cells/${ROW}/BASE/1?read=reader` })).toMatchObject({
      status: 404,
      json: { served_by: 'reader', stale: true },
    });
  });

  it('lists versions, newest first or oldest first, page by page', async () => {
    const first = await get(`/cells/${ROW}/BASE/versions?limit=2`);
    expect(first.json).toMatchObject({ cells: [{ ref_key: 5 }, { ref_key: 2 }], next: 2, ...SERVED });
    expect((await get(`/cells/${ROW}/BASE/versions?limit=2&after=2`)).json).toMatchObject({
      cells: [{ ref_key: 1 }],
      next: null,
    });
    expect((await get(`/cells/${ROW}/BASE/versions?order=asc&limit=1`)).json).toMatchObject({
      cells: [{ ref_key: 1 }],
      next: 1,
    });
  });

  it('answers the latest cell of each column of a row, or of those named, whose names may hold commas', async () => {
    const all = await get(`/rows/${ROW}`);
    expect(all.json).toMatchObject({
      cells: [{ column_name: 'BASE', ref_key: 5 }, { column_name: 'FARE ADJUSTMENT' }, { column_name: 'a,b' }],
      next: null,
    });
    const named = await get(`/rows/${ROW}?column=a%2Cb&column=FARE+ADJUSTMENT&column=NONE`);
    expect(named.json).toMatchObject({ cells: [{ column_name: 'FARE ADJUSTMENT' }, { column_name: 'a,b' }] });
    expect((await get(`/rows/${ROW}?after=BASE`)).json).toMatchObject({
      cells: [{ column_name: 'FARE ADJUSTMENT' }, { column_name: 'a,b' }],
    });
  });

  it('answers a batch in order: cells, latest cells, null', async () => {
    const { json } = await post('/batch-get', {
      keys: [
        { row_key: ROW, column_name: 'BASE' },
        { row_key: ROW, column_name: 'NONE' },
        { row_key: ROW, column_name: 'BASE', ref_key: 1, min_added_id: 1 },
      ],
    });
    expect(json['cells']).toMatchObject([{ ref_key: 5, ...SERVED }, null, { ref_key: 1 }]);
  });

  it('answers an error in the place of an item, never null', async () => {
    const error = new SchemalessError('unavailable', 'group-2 does not answer');
    const { status, json } = await gateway(fakeDeployment({ batchGet: async () => [null, { error }] }))({
      method: 'POST',
      path: '/v1/trips/batch-get',
      body: '{"keys":[]}',
    });
    expect(status).toBe(200);
    expect(json).toEqual({
      cells: [
        null,
        {
          error: { code: 'unavailable', title: expect.any(String), detail: 'group-2 does not answer', retry: 'later' },
        },
      ],
    });
  });

  it('reads the log of one shard from an added id, or from a time in any zone', async () => {
    expect((await get(`/shards/${SHARD}/cells?after=3&limit=1`)).json).toEqual({
      cells: [expect.objectContaining({ added_id: 4 })],
      next: 4,
      more: true,
      ...SERVED,
    });
    const { json } = await get(`/shards/${SHARD}/cells?since=2020-01-01T00:00:00%2B02:00`);
    expect(json).toMatchObject({ cells: [{ added_id: 1 }, {}, {}, {}, {}], next: 5, more: false });
  });

  it('reads the logs of many shards; the limit is per shard', async () => {
    const empty = (SHARD + 1) % SHARDS;
    const { json } = await post('/log', {
      locations: [
        { shard: SHARD, after: 1 },
        { shard: empty, since: '2020-01-01T00:00:00Z' },
      ],
      limit: 2,
    });
    expect(json['logs']).toMatchObject([
      { shard: SHARD, cells: [{ added_id: 2 }, { added_id: 3 }], next: 3, more: true },
      { shard: empty, cells: [], next: 0, more: false },
    ]);
  });

  it('keeps a damaged cell in its place of a list, with the error', async () => {
    const page = { cells: [DAMAGED], next: null, ...SERVED };
    const log = { shard: SHARD, cells: [DAMAGED], next: 1, more: false, ...SERVED };
    const damaged = gateway(
      fakeDeployment({
        versions: async () => page,
        row: async () => ({ ...page, next: null }),
        log: async () => [log],
      }),
    );
    const shown = [
      { body: null, error: { code: 'undecodable_body', address: { row_key: ROW, column_name: 'BASE', ref_key: 1 } } },
    ];
    for (const path of [`/cells/${ROW}/BASE/versions`, `/rows/${ROW}`, `/shards/${SHARD}/cells?after=0`]) {
      expect((await damaged({ method: 'GET', path: `/v1/trips${path}` })).json).toMatchObject({ cells: shown });
    }
    expect((await damaged({ method: 'POST', path: '/v1/trips/log', body: '{"locations":[]}' })).json).toMatchObject({
      logs: [{ cells: shown }],
    });
  });

  it('lists shards with their heads', async () => {
    const { json } = await get('/shards');
    expect(json['shards']).toHaveLength(SHARDS);
    expect(json['shards']).toContainEqual({ shard: SHARD, group: 'memory', head: 5 });
  });

  it('passes on who is asked, and what it must have seen', async () => {
    const seen: unknown[] = [];
    const found = { cell: null, ...SERVED };
    const spying = gateway(
      fakeDeployment({
        get: async (...call) => (seen.push(call[1]), found),
        getLatest: async (...call) => (seen.push(call[1]), found),
        batchGet: async (keys, options) => (seen.push({ ...options, min_added_id: keys[0]?.min_added_id }), []),
      }),
    );
    const asked = { read: 'reader', min_added_id: 9, packed: false };
    await spying({ method: 'GET', path: `/v1/trips/cells/${ROW}/BASE/1?read=reader&min_added_id=9` });
    await spying({ method: 'GET', path: `/v1/trips/cells/${ROW}/BASE?read=reader&min_added_id=9` });
    await spying({
      method: 'POST',
      path: '/v1/trips/batch-get?read=reader',
      body: JSON.stringify({ keys: [{ row_key: ROW, column_name: 'BASE', min_added_id: 9 }] }),
    });
    expect(seen).toEqual([asked, asked, asked]);
  });
});

describe('an answer at the limit', () => {
  const full = gateway(fakeDeployment());
  /** Each takes two bytes in a body, as JSON, and four where that JSON is a string of the payload. */
  const QUOTES = '"'.repeat(LIMITS.bodyBytes / 2 - 1000);

  it.each([
    ['of quotes', QUOTES],
    ['of plain text', 'x'.repeat(LIMITS.bodyBytes - 1000)],
    ['of two bytes a letter', 'é'.repeat(LIMITS.bodyBytes / 2 - 1000)],
  ])('%s fits into the 6 MB that a function may answer, and comes whole', async (_what, body) => {
    const column_name = randomUUID();
    for (const ref_key of [1, 2, 3, 4])
      expect(
        (
          await full({
            method: 'PUT',
            path: `/v1/trips/cells/${ROW}/${column_name}/${ref_key}`,
            body: JSON.stringify(body),
          })
        ).status,
      ).toBe(201);
    const { status, json, text, payloadBytes } = await full({
      method: 'GET',
      path: `/v1/trips/cells/${ROW}/${column_name}/versions`,
    });
    expect(status).toBe(200);
    const cells = json['cells'] as readonly Cell[];
    expect(cells).toHaveLength(4);
    expect(cells.every((cell) => cell.body === body)).toBe(true);
    expect(Buffer.byteLength(text)).toBeGreaterThan(LIMITS.answerBytes * 0.99);
    expect(payloadBytes).toBeLessThan(6_000_000);
  });
});
