import { describe, expect, it } from 'vitest';
import type { Cell, PutResult } from '../../../shared/cell.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { shardOf } from '../../../shared/address.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { fakeDeployment, SHARDS } from '../../functions/support/fake-deployment.ts';
import { errorOf } from '../../support/datastore-conformance.ts';
import { describeRestoring } from '../../support/restore-conformance.ts';
import { storeOf } from '../../support/store-of.ts';
import { clientOf, silentClient } from './opened.ts';

const ROW = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
const SHARD = shardOf(ROW, SHARDS);
const SERVED = { served_by: 'writer', stale: false } as const;
const key = (column_name: string) => ({ row_key: ROW, column_name });

const client = (changes: Partial<Datastore> = {}) =>
  clientOf(fakeDeployment(changes), { url: 'http://store.test/', attempts: 1 });

describeRestoring('HTTP', async () => ({ ...storeOf(client()), shards: SHARDS }));

describe('the client', () => {
  it.each<PutResult>([
    { outcome: 'unavailable', shard: 2, reason: 'no secondary' },
    { outcome: 'conflict', shard: 2, added_id: 7 },
    { outcome: 'erased', shard: 2 },
    { outcome: 'subject_forgotten', shard: 2, field: 'rider' },
  ])(
    'throws what was not confirmed, with its address, and returns it where outcomes are wanted: %j',
    async (result) => {
      const { outcome } = result;
      const store = { put: async () => result, batchPut: async () => [result] };
      // The second name fits no path: its put is a batch.
      for (const [trips, column] of [
        [client(store), 'A'],
        [client(store), 'a/b'],
        [clientOf(fakeDeployment(store), { attempts: 1, joinPuts: true }), 'A'],
      ] as const) {
        const address = { ...key(column), ref_key: 0 };
        const thrown = await errorOf(() => trips.put({ ...address, body: 1 }));
        expect(thrown).toMatchObject({ code: outcome, details: { address, more: { outcome, shard: 2 } } });
        const reason = expect.stringContaining('no secondary');
        const returned = { ...result, ref_key: 0, ...('reason' in result && { reason }) };
        expect(await trips.tryPut({ ...address, body: 1 })).toEqual(returned);
        if (outcome === 'conflict') continue;
        expect(await errorOf(() => trips.putNext({ ...key(column), body: 1 }))).toMatchObject({ details: { address } });
        expect(await trips.tryPut({ ...key(column), body: 1 })).toEqual(returned);
      }
    },
  );

  it('throws, or returns, a put without any answer as unavailable; one that was never sent has no address', async () => {
    const address = { ...key('A'), ref_key: 0 };
    expect(await errorOf(() => silentClient().put({ ...address, body: 1 }))).toMatchObject({
      code: 'unavailable',
      details: { address },
    });
    const returned = { outcome: 'unavailable', ref_key: 0, reason: expect.any(String) };
    expect(await silentClient().tryPut({ ...address, body: 1 })).toEqual(returned);
    // A gateway that gave up, or an overload: it may be done all the same.
    for (const [status, code] of [
      [500, 'internal'],
      [503, 'overloaded'],
    ] as const) {
      const fetch = async (): Promise<Response> => Response.json({ code, retry: 'later' }, { status });
      const busy = clientOf(fakeDeployment(), { fetch, attempts: 1 });
      expect(await busy.tryPut({ ...address, body: 1 })).toMatchObject({ outcome: 'unavailable', ref_key: 0 });
    }
    const unread = await errorOf(() => silentClient().tryPut({ ...key('A'), body: 1 }));
    expect([unread.code, unread.details.address]).toEqual(['unavailable', undefined]);
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

  it('gives the errors of single items as errors', async () => {
    const address = { ...key('A'), ref_key: 1 };
    const damage = new SchemalessError('undecodable_body', 'cannot decode it', { address });
    const created_at = '2026-01-31T08:00:00.000000Z';
    const damaged: Cell = { ...address, body: null, added_id: 1, shard: 0, created_at, error: damage };
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
    expect(item).toMatchObject({ error: { code: damage.code, message: damage.message, details: { address } } });
    expect((await trips.versions(key('A'))).cells[0]?.error).toBeInstanceOf(SchemalessError);
    const [log, dead] = await trips.log([]);
    expect(log !== undefined && 'cells' in log && log.cells[0]?.error).toBeInstanceOf(SchemalessError);
    expect(dead?.error).toBeInstanceOf(SchemalessError);
  });

  it('refuses what JSON text would change, before anything is sent', async () => {
    const trips = silentClient();
    const first = { ...key('A'), ref_key: 0, body: 1 };
    const refused: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => trips.put({ ...first, body: { fare: Number.NaN } }), 'body'],
      [() => trips.put({ ...first, ref_key: undefined as never }), 'ref_key'],
      [() => trips.batchPut([first, { ...first, ref_key: 1.5 }]), 'cells[1].ref_key'],
      [() => trips.versions(key('a/b')), 'column_name'],
    ];
    for (const [call, field] of refused)
      expect(await errorOf(call)).toMatchObject({ code: expect.stringMatching(/^(invalid|missing)_field$/u), field });
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
    const { cells } = await trips.versions(key('STATUS'));
    expect(cells.map(({ body }) => Number(body)).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('goes on behind a latest cell that was erased, and says so where nothing may be written any more', async () => {
    const at = '2026-01-31T08:00:00.000000Z';
    const left = { ...key('STATUS'), ref_key: 4, body: null, erased: true, added_id: 1, shard: SHARD } as const;
    const trips = client({ getLatest: async () => ({ cell: { ...left, created_at: at }, ...SERVED }) });
    expect(await trips.putNext({ ...key('STATUS'), body: 'new' })).toMatchObject({ outcome: 'stored', ref_key: 5 });
    const erased = { outcome: 'erased', shard: SHARD } as const;
    const closed = client({ put: async () => erased, batchPut: async () => [erased] });
    expect(await errorOf(() => closed.putNext({ ...key('STATUS'), body: 'new' }))).toMatchObject({ code: 'erased' });
  });

  it('gets on although the latest cell that it reads is behind', async () => {
    const deployment = fakeDeployment({ getLatest: async () => ({ cell: null, served_by: 'reader', stale: true }) });
    for (const ref_key of [0, 1, 2]) await deployment.trips.put({ ...key('STATUS'), ref_key, body: 'taken' });
    const trips = clientOf(deployment);
    expect(await trips.putNext({ ...key('STATUS'), body: 'mine' })).toMatchObject({ outcome: 'stored', ref_key: 3 });
  });
});
