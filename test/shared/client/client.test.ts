import { describe, expect, it } from 'vitest';
import type { Cell, Json } from '../../../shared/cell.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { shardOf } from '../../../shared/address.ts';
import type { BufferOperations, Datastore } from '../../../shared/contract/datastore.ts';
import { fakeDeployment, SHARDS } from '../../functions/support/fake-deployment.ts';
import { errorOf } from '../../support/datastore-conformance.ts';
import { describeRestoring } from '../../support/restore-conformance.ts';
import { clientOf, silentClient } from './opened.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const SHARD = shardOf(ROW, SHARDS);
const SERVED = { served_by: 'writer', stale: false } as const;
const key = (column_name: string) => ({ row_key: ROW, column_name });

const client = (changes: Partial<Datastore & BufferOperations> = {}) =>
  clientOf(fakeDeployment(changes), { url: 'http://store.test/', attempts: 1 });

describeRestoring('HTTP', async () => ({ ...client(), shards: SHARDS }));

describe('the client', () => {
  it('puts and gets, with outcomes as results', async () => {
    const trips = client();
    const cell = { ...key('FARE ADJUSTMENT'), ref_key: 1, body: { total: 12.5 } };
    const stored = { shard: SHARD, added_id: 1, created_at: expect.any(String) };
    expect(await trips.put(cell)).toEqual({ outcome: 'stored', ...stored });
    expect(await trips.put(cell)).toEqual({ outcome: 'stored_before', ...stored });
    expect(await trips.put({ ...cell, body: 1 })).toEqual({ outcome: 'conflict', shard: SHARD, added_id: 1 });
    expect(await trips.get(cell)).toEqual({
      cell: { ...cell, shard: SHARD, added_id: 1, created_at: expect.any(String) },
      ...SERVED,
    });
    expect(await trips.getLatest(key('NOTES'))).toEqual({ cell: null, ...SERVED });
  });

  it('asks when cells were stored, of one and of many', async () => {
    const asked: unknown[] = [];
    const stored = { outcome: 'stored', shard: SHARD, added_id: 1, created_at: '2026-01-31T08:00:00.000000Z' } as const;
    const trips = client({
      put: async (_cell, options) => (asked.push(options), stored),
      batchPut: async (_cells, options) => (asked.push(options), [stored]),
    });
    const cell = { ...key('A'), ref_key: 0, body: 1 };
    const options = { with: 'created_at' } as const;
    expect(await trips.put(cell, options)).toEqual(stored);
    expect(await trips.put({ ...cell, column_name: 'a/b' }, options)).toEqual(stored);
    expect(await trips.batchPut([cell], options)).toEqual([stored]);
    expect(asked).toEqual([options, options, options]);
  });

  it('returns an unconfirmed put as such', async () => {
    const result = await client({
      put: async () => ({ outcome: 'unavailable', shard: 2, reason: 'no secondary' }),
    }).put({ ...key('A'), ref_key: 0, body: 1 });
    expect(result).toEqual({ outcome: 'unavailable', shard: 2, reason: expect.stringContaining('no secondary') });
  });

  it('gives what is left of a cell that was erased, and why', async () => {
    const address = { ...key('BASE'), ref_key: 1 };
    const at = '2026-01-31T08:00:00.000000Z';
    const erasure = { id: 'an id', scope: 'cell', reason: 'request 4711', erased_at: at } as const;
    const cell: Cell = { ...address, body: null, erased: true, added_id: 1, shard: SHARD, created_at: at };
    const found = { cell, ...SERVED, erasure };
    const trips = client({
      get: async () => found,
      getLatest: async () => found,
      batchGet: async () => [{ ...cell, ...SERVED }],
    });
    for (const read of [() => trips.get(address), () => trips.getLatest(address)]) expect(await read()).toEqual(found);
    expect(await getAll(trips, [address])).toEqual([{ ...cell, ...SERVED }]);
  });

  it('keeps 64 bit integers both ways', async () => {
    const trips = client();
    const body: Json = { large: 2n ** 64n - 1n, small: -(2n ** 63n), price: 0.1 };
    await trips.put({ ...key('A'), ref_key: 0, body });
    expect((await trips.get({ ...key('A'), ref_key: 0 })).cell?.body).toEqual(body);
    expect((await trips.batchGet([key('A')]))[0]).toMatchObject({ body });
  });

  it('reads bodies as deep as they may be, from every list', async () => {
    const trips = client();
    const body = JSON.parse('['.repeat(100) + ']'.repeat(100)) as Json;
    await trips.put({ ...key('A'), ref_key: 0, body });
    expect((await trips.batchGet([key('A')]))[0]).toMatchObject({ body });
    expect((await trips.row(ROW)).cells).toMatchObject([{ body }]);
    expect(await trips.log([{ shard: SHARD, after: 0 }])).toMatchObject([{ cells: [{ body }] }]);
  });

  it.each(['.', '..', 'a/b', 'Übersicht', 'a%2Fb', ' ', '?'])('reaches the column %j', async (column_name) => {
    const trips = client();
    const cell = { ...key(column_name), ref_key: 3, body: column_name };
    expect(await trips.put(cell)).toMatchObject({ outcome: 'stored' });
    expect((await trips.get(cell)).cell).toMatchObject(cell);
    expect((await trips.getLatest(key(column_name))).cell).toMatchObject(cell);
    expect((await trips.row(ROW, { columns: [column_name] })).cells).toMatchObject([cell]);
  });

  it('says of a column that is empty, and whose name no path takes, that it may be behind', async () => {
    expect(await client().get({ ...key('a/b'), ref_key: 0 })).toEqual({ cell: null, served_by: 'writer', stale: true });
  });

  it('pages through versions, rows and logs', async () => {
    const trips = client();
    expect(await trips.batchPut([1, 2, 3].map((ref_key) => ({ ...key('A'), ref_key, body: null })))).toHaveLength(3);
    await trips.put({ ...key('B'), ref_key: 0, body: 1 });
    expect(await trips.versions(key('A'), { limit: 2 })).toMatchObject({
      cells: [{ ref_key: 3 }, { ref_key: 2 }],
      next: 2,
      ...SERVED,
    });
    expect(await trips.versions(key('A'), { order: 'asc', after: 1 })).toMatchObject({
      cells: [{ ref_key: 2 }, { ref_key: 3 }],
      next: null,
    });
    expect(await trips.row(ROW)).toMatchObject({
      cells: [{ column_name: 'A', ref_key: 3 }, { column_name: 'B' }],
      next: null,
    });
    expect(await trips.log([{ shard: SHARD, after: 1 }], { limit: 2 })).toMatchObject([
      { shard: SHARD, cells: [{ added_id: 2 }, { added_id: 3 }], next: 3, more: expect.any(Boolean) },
    ]);
    expect((await trips.heads()).find(({ shard }) => shard === SHARD)).toEqual({
      shard: SHARD,
      group: 'memory',
      head: 4,
    });
  });

  it('gives the errors of single items as errors', async () => {
    const address = { ...key('A'), ref_key: 1 };
    const damage = new SchemalessError('undecodable_body', 'cannot decode it', { address });
    const damaged: Cell = {
      ...address,
      body: null,
      added_id: 1,
      shard: 0,
      created_at: '2026-01-31T08:00:00.000000Z',
      error: damage,
    };
    const trips = client({
      batchGet: async () => [null, { error: damage }],
      versions: async () => ({ cells: [damaged], next: null, ...SERVED }),
      log: async () => [
        { shard: 0, cells: [damaged], next: 1, more: true, ...SERVED },
        { shard: 1, error: new SchemalessError('unavailable', 'group-2 does not answer') },
      ],
    });
    const [none, item] = await trips.batchGet([key('A'), key('A')]);
    expect(none).toBeNull();
    expect(item).toMatchObject({
      error: { code: 'undecodable_body', message: 'cannot decode it', details: { address } },
    });
    expect((await trips.versions(key('A'))).cells[0]?.error).toBeInstanceOf(SchemalessError);
    const [log, dead] = await trips.log([]);
    expect(log !== undefined && 'cells' in log && log.cells[0]?.error).toBeInstanceOf(SchemalessError);
    expect(dead?.error).toBeInstanceOf(SchemalessError);
  });

  it('throws what the server refused, by code and field', async () => {
    const error = await errorOf(() => client().log([{ shard: SHARDS, after: 0 }]));
    expect(error).toMatchObject({
      code: 'unknown_shard',
      status: 404,
      retry: 'never',
      details: { field: 'locations[0].shard', got: `${SHARDS}`, more: { request_id: expect.any(String) } },
    });
  });

  it('refuses what JSON text would change, before anything is sent', async () => {
    const trips = silentClient();
    expect(await errorOf(() => trips.put({ ...key('A'), ref_key: 0, body: { fare: Number.NaN } }))).toMatchObject({
      code: 'invalid_field',
    });
    expect(
      await errorOf(() =>
        trips.batchPut([
          { ...key('A'), ref_key: 0, body: 1 },
          { ...key('A'), ref_key: 1.5, body: 1 },
        ]),
      ),
    ).toMatchObject({ code: 'invalid_field', details: { field: 'cells[1].ref_key' } });
    expect(await errorOf(() => trips.versions(key('a/b')))).toMatchObject({
      code: 'invalid_field',
      details: { field: 'column_name' },
    });
  });

  it('shows, discards and decides what is in the buffer', async () => {
    const conflict = {
      id: 'group-1/1',
      ...key('A'),
      ref_key: 1,
      body: 1,
      shard: 0,
      created_at: '2026-01-31T08:00:00.000000Z',
    };
    const trips = client({
      bufferConflicts: async () => ({ conflicts: [conflict], next: 'group-1/1' }),
      undecidedWrites: async () => ({ undecided: [conflict], next: null }),
    });
    expect(await trips.buffer()).toEqual([
      { group: 'group-1', rows: 0, oldest_age: null, parked: 0, conflicts: 0, undecided: 0 },
    ]);
    expect(await trips.bufferConflicts({ limit: 1 })).toEqual({ conflicts: [conflict], next: 'group-1/1' });
    expect(await trips.discardConflicts(['group-1/1'])).toBe(1);
    expect(await trips.undecidedWrites({ limit: 1 })).toEqual({ undecided: [conflict], next: null });
    expect(await trips.keepUndecided(['group-1/1', 'group-1/2'])).toBe(2);
  });
});

describe('putNext', () => {
  it('takes 0, then one more each time, with one put each', async () => {
    let puts = 0;
    const deployment = fakeDeployment({ put: async (cell) => ((puts += 1), deployment.trips.put(cell)) });
    const trips = clientOf(deployment);
    for (const ref_key of [0, 1, 2])
      expect(await trips.putNext({ ...key('STATUS'), body: ref_key })).toMatchObject({ outcome: 'stored', ref_key });
    expect(puts).toBe(3);
  });

  it('gives every one of many writers a cell of its own', async () => {
    const trips = client();
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, body) => trips.putNext({ ...key('STATUS'), body })),
    );
    expect(results.map(({ ref_key }) => ref_key).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect((await trips.versions(key('STATUS'))).cells.map(({ body }) => Number(body)).sort()).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7,
    ]);
  });

  it('goes on behind a latest cell that was erased', async () => {
    const at = '2026-01-31T08:00:00.000000Z';
    const left = { ...key('STATUS'), ref_key: 4, body: null, erased: true, added_id: 1, shard: SHARD } as const;
    const trips = client({ getLatest: async () => ({ cell: { ...left, created_at: at }, ...SERVED }) });
    expect(await trips.putNext({ ...key('STATUS'), body: 'new' })).toMatchObject({ outcome: 'stored', ref_key: 5 });
  });

  it('says so where nothing may be written any more', async () => {
    const erased = { outcome: 'erased', shard: SHARD } as const;
    const trips = client({ put: async () => erased, batchPut: async () => [erased] });
    expect(await trips.putNext({ ...key('STATUS'), body: 'new' })).toEqual({ ...erased, ref_key: 0 });
    for (const column of ['STATUS', 'a/b'])
      expect(await trips.put({ ...key(column), ref_key: 0, body: 1 })).toEqual(erased);
  });

  it('gets on although the latest cell that it reads is behind', async () => {
    const deployment = fakeDeployment({ getLatest: async () => ({ cell: null, served_by: 'reader', stale: true }) });
    for (const ref_key of [0, 1, 2]) await deployment.trips.put({ ...key('STATUS'), ref_key, body: 'taken' });
    const trips = clientOf(deployment);
    expect(await trips.putNext({ ...key('STATUS'), body: 'mine' })).toMatchObject({ outcome: 'stored', ref_key: 3 });
  });
});
