import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { shardOf } from '../../../shared/address.ts';
import type { Json, NewCell } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { sealUnder } from '../../../shared/sealed/seal.ts';
import type { Seal } from '../../../shared/store/deployment.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { faults } from '../../support/faulty-client.ts';
import { indexOn } from '../../support/index-on.ts';
import { cellOf, mark, openSealed, readings, trip, type Planted } from './support.ts';

const broken = faults();
const sealed = await openSealed({
  indexes: [
    indexOn('by_email', { rider_email: 'string', city: 'string' }),
    indexOn('by_city', { city: 'string', rider_email: 'string' }),
  ],
  wrap: broken.wrap,
});
afterEach(() => broken.behaviours.clear());
afterAll(() => sealed.store.close());

async function stopGroupOf({ row_key }: NewCell): Promise<void> {
  const { homes = [], shards = 0 } = (await sealed.store.topology.datastore(sealed.name)) ?? {};
  broken.behaviours.set(homes[shardOf(row_key, shards)]?.group ?? '', 'down');
}

const drain = () => Promise.all(sealed.store.groups.map(({ name }) => drainAtOnce(sealed.store.context, name)));

/** The same body, its keys in another order. */
function turned({ driver_note, ...rest }: Planted['body']): Planted['body'] {
  const { text = null, stars = null } = driver_note as { readonly [key: string]: Json };
  return { driver_note: { stars, text }, ...rest };
}

describe('what is sealed', () => {
  it('is read as it was written, by every read and every instance, and stays sealed where that is asked for', async () => {
    const one = trip();
    expect((await sealed.trips.put(cellOf(one))).outcome).toBe('stored');
    for (const trips of [sealed.trips, await sealed.another()])
      for (const read of await readings(trips, one)) expect(read).toEqual({ body: one.body, forgotten: undefined });
    const kept = await sealed.body(one);
    expect(kept).toMatchObject({ rider_uuid: one.rider, city: one.plain, rider: { since: 2019 } });
    expect(kept['rider_name']).toEqual({ $sealed: expect.stringMatching(/^1\./u) });
    expect(kept['rider_email']).toEqual({ $sealed: expect.any(String), $hash: expect.any(String) });
    for (const read of await readings(sealed.trips, one, { sealed: true })) expect(read.body).toEqual(kept);
  });

  it('is sealed in a transaction, and open in the answer to conditions that fail', async () => {
    const one = trip();
    const order = { row_key: one.row_key, cells: [cellOf(one), { column_name: 'NOTES', ref_key: 1, body: 'paid' }] };
    expect((await sealed.trips.transact(order)).outcome).toBe('stored');
    expect((await sealed.trips.transact(order)).outcome).toBe('stored_before');
    expect(await sealed.body(one)).toMatchObject({ rider_name: { $sealed: expect.any(String) } });
    expect((await sealed.trips.get(one)).cell?.body).toEqual(one.body);
    const late = { ...order, cells: [{ column_name: 'NOTES', ref_key: 2, body: 'late' }] };
    expect(await sealed.trips.transact({ ...late, if: [{ column_name: 'BASE', latest: null }] })).toMatchObject({
      outcome: 'condition_failed',
      failed: [{ column_name: 'BASE', wanted: null, latest: { ref_key: one.ref_key, body: one.body } }],
    });
  });

  it('is the same in a transaction that is repeated after its field was sealed, whatever its conditions say now', async () => {
    const one = trip();
    const notes = { column_name: 'NOTES', ref_key: 1, body: 'paid' };
    const order = { row_key: one.row_key, cells: [cellOf(one), notes], if: [{ column_name: 'BASE', latest: null }] };
    const first = await sealed.stored.transact(order);
    expect(first.outcome).toBe('stored');
    const { if: _conditions, ...always } = order;
    for (const again of [order, always])
      expect(await sealed.trips.transact(again)).toEqual({ ...first, outcome: 'stored_before' });
    const more = { ...notes, ref_key: 2 };
    const ids = 'added_ids' in first ? first.added_ids : [];
    expect(await sealed.trips.transact({ ...always, cells: [more, ...order.cells] })).toMatchObject({
      outcome: 'stored',
      added_ids: [(ids[1] ?? 0) + 1, ...ids],
    });
    const other = { ...cellOf(one), body: { ...one.body, rider_name: mark() } };
    expect(await sealed.trips.transact({ ...always, cells: [other, notes] })).toMatchObject({
      outcome: 'conflict',
      cells: [{ column_name: 'BASE' }],
    });
  });

  it('lies nowhere as it was written: in no table, buffer, kept copy, index or table of keys', async () => {
    const one = trip();
    expect((await sealed.trips.put(cellOf(one))).outcome).toBe('stored');
    const [buffered, kept] = [trip(), trip()];
    await stopGroupOf(one);
    const [later] = await sealed.trips.batchPut([{ ...cellOf(kept), row_key: one.row_key }]);
    expect(later?.outcome).toBe('buffered');
    const waiting = { ...cellOf(buffered), row_key: one.row_key, ref_key: 2 };
    expect((await sealed.trips.put(waiting)).outcome).toBe('buffered');
    broken.behaviours.clear();
    // The search finds what is not sealed, in logs, buffers and indexes, so that it would find the rest.
    expect((await sealed.places(one.plain)).map((place) => place.split(': ')[1]?.replace(/_[0-9a-f]+$/u, ''))).toEqual(
      expect.arrayContaining(['entity', 'buffer', 'by_city']),
    );
    expect(await sealed.places(buffered.plain)).not.toEqual([]);
    for (const planted of [one, buffered, kept])
      for (const secret of [planted.name, planted.email, planted.phone, planted.note])
        expect(await sealed.places(secret)).toEqual([]);
    await drain();
    expect((await sealed.trips.get(waiting)).cell?.body).toEqual(buffered.body);
    // The other body for an address that was taken is kept as a conflict, sealed as it was buffered.
    expect(await sealed.places(kept.plain)).not.toEqual([]);
    expect(await sealed.places(kept.name)).toEqual([]);
    // The table of keys identifies no subject.
    expect((await sealed.places(one.rider)).every((place) => place.includes(': '))).toBe(true);
  });

  it('is the same cell when repeated, from any instance, after a lost answer, in any order of keys', async () => {
    const one = trip();
    for (const { name } of sealed.store.groups) broken.behaviours.set(name, 'lost-answers');
    expect(['unavailable', 'buffered']).toContain((await sealed.trips.put(cellOf(one))).outcome);
    broken.behaviours.clear();
    await drain();
    const other = await sealed.another();
    expect((await other.put(cellOf(one))).outcome).toBe('stored_before');
    const inOtherOrder = { ...cellOf(one), body: turned(one.body) };
    expect((await other.put(inOtherOrder)).outcome).toBe('stored_before');
    expect((await other.batchPut([inOtherOrder]))[0]?.outcome).toBe('stored_before');
    expect((await other.put({ ...cellOf(one), body: { ...one.body, rider_name: 'other' } })).outcome).toBe('conflict');
    const { cells } = await sealed.trips.versions(one);
    expect(cells).toHaveLength(1);
  });

  it('is no conflict where it comes again in another order of keys while the primary is unavailable', async () => {
    const one = trip();
    await stopGroupOf(one);
    for (const body of [one.body, turned(one.body)])
      expect((await sealed.trips.put({ ...cellOf(one), body })).outcome).toBe('buffered');
    broken.behaviours.clear();
    for (const { conflicts } of await drain()) expect(conflicts).toBe(0);
  });

  it('has its outcome in a batch, whatever there is at the address of another, read once for all', async () => {
    const [changed, equal, other, fresh] = [trip(), trip(), trip(), trip()];
    // Written before its field was sealed.
    for (const one of [equal, other]) expect((await sealed.stored.put(cellOf(one))).outcome).toBe('stored');
    await sealed.stored.put({ ...cellOf(changed), body: { ...changed.body, rider_name: { $sealed: '1.nothing' } } });
    const batch = [changed, equal, fresh, { ...other, body: { ...other.body, rider_name: mark() } }].map(cellOf);
    const read = vi.spyOn(sealed.stored, 'batchGet');
    const results = await sealed.trips.batchPut(batch);
    expect(results.map(({ outcome }) => outcome)).toEqual(['conflict', 'stored_before', 'stored', 'conflict']);
    expect(read).toHaveBeenCalledTimes(1);
    read.mockRejectedValueOnce(new SchemalessError('unavailable', 'unavailable'));
    const unavailable = await sealed.trips.batchPut([...batch, cellOf(trip())]);
    expect(unavailable.map(({ outcome }) => outcome)).toEqual(
      'unavailable unavailable stored_before unavailable stored'.split(' '),
    );
    read.mockRejectedValueOnce(new SchemalessError('undecodable_body', 'damaged'));
    const damaged = await sealed.trips.batchPut([...batch, cellOf(trip())]);
    expect(damaged.map(({ outcome }) => outcome)).toEqual('conflict conflict stored_before conflict stored'.split(' '));
    read.mockRestore();
    expect((await sealed.trips.put(cellOf(changed))).outcome).toBe('conflict');
  });

  it('has one key for each subject, however many instances write of it for the first time at once', async () => {
    const instances = await Promise.all([1, 2, 3, 4].map(() => sealed.another()));
    for (let round = 0; round < 3; round += 1) {
      const rider = randomUUID();
      const ones = instances.map(() => trip({ rider }));
      await Promise.all(instances.map((trips, at) => trips.put(cellOf(ones[at] as Planted))));
      const reader = await sealed.another();
      for (const one of ones) expect((await reader.get(one)).cell?.body).toEqual(one.body);
    }
  });

  it('is found by an index by equality alone, and shown by none', async () => {
    const [one, two] = [trip(), trip()];
    await sealed.trips.batchPut([cellOf(one), cellOf(two)]);
    const found = async (where: Parameters<typeof sealed.trips.query>[0]['where'], index = 'by_email') =>
      (await sealed.trips.query({ index, where, columns: ['BASE'] })).entries;
    for (const { email } of [one, two]) await expect.poll(() => found({ rider_email: email })).toHaveLength(1);
    await expect.poll(() => found({ city: two.plain }, 'by_city')).toHaveLength(1);
    const [entry] = await found({ rider_email: one.email });
    expect(entry).toMatchObject({ row_key: one.row_key, fields: { rider_email: null, city: one.plain } });
    expect(entry?.cells).toMatchObject([{ body: one.body }]);
    expect(await found({ city: two.plain, rider_email: two.email }, 'by_city')).toHaveLength(1);
    expect(await found({ city: two.plain, rider_email: one.email }, 'by_city')).toEqual([]);
    expect(await found({ rider_email: mark() })).toEqual([]);
    expect((await sealed.trips.count({ index: 'by_email', where: { rider_email: two.email } })).count).toBe(1);
    const among = { in: [mark(), two.email] };
    expect(await found({ city: two.plain, rider_email: among }, 'by_city')).toHaveLength(1);
    for (const operator of ['lt', 'lte', 'gt', 'gte', 'ne'] as const)
      await expect(found({ city: two.plain, rider_email: { [operator]: 'a' } }, 'by_city')).rejects.toMatchObject({
        code: 'invalid_field',
        field: `rider_email[${operator}]`,
      });
    await expect(
      sealed.trips.query({ index: 'by_city', where: { city: one.plain }, order: 'rider_email' }),
    ).rejects.toMatchObject({ code: 'invalid_field', field: 'order' });
    // Nor by its hash, which is in what `sealed` answers.
    const hash = String(Object((await sealed.body(one))['rider_email']).$hash);
    expect(await found({ rider_email: hash })).toEqual([]);
  });

  it('does not open at another address, nor once it was changed, and then names the cell', async () => {
    const [one, two] = [trip(), trip()];
    await sealed.trips.put(cellOf(one));
    const kept = await sealed.body(one);
    const moved = { ...cellOf(two), body: kept };
    // Past all checks, as by direct SQL.
    expect((await sealed.stored.put(moved)).outcome).toBe('stored');
    await expect(sealed.trips.get(moved)).rejects.toMatchObject({ code: 'undecodable_body' });
    expect(await sealed.trips.batchGet([moved])).toMatchObject([{ error: { code: 'undecodable_body' } }]);
    const { cells } = await sealed.trips.versions(moved);
    expect(cells).toMatchObject([{ body: null, error: { code: 'undecodable_body' } }]);
    expect((await sealed.trips.get(moved, { sealed: true })).cell?.body).toEqual(kept);
  });

  it('may be given back as it was sealed, at its own address alone, as an import of an export does', async () => {
    const one = trip();
    await sealed.trips.put(cellOf(one));
    const kept = await sealed.body(one);
    expect((await sealed.trips.put({ ...cellOf(one), body: kept })).outcome).toBe('stored_before');
    await expect(sealed.trips.put({ ...cellOf(trip()), body: kept })).rejects.toMatchObject({
      code: 'invalid_field',
      field: 'body.rider_name',
    });
    const { rider_email } = kept;
    for (const more of [{ note: 'lost' }, { $Hash: 'x' }])
      await expect(
        sealed.trips.put({ ...cellOf(one), body: { ...kept, rider_email: { ...Object(rider_email), ...more } } }),
      ).rejects.toMatchObject({ code: 'invalid_field', field: 'body.rider_email' });
    await expect(
      sealed.trips.put({ ...cellOf(trip()), body: { rider_uuid: 'x', rider_name: { $sealed: 'Ann' } } }),
    ).rejects.toMatchObject({ code: 'invalid_field', field: 'body.rider_name' });
  });

  it.each([
    [{ rider_name: 'Ann' }, 'missing_field', 'rider_uuid'],
    [{ rider_name: 'Ann', rider_uuid: null }, 'missing_field', 'rider_uuid'],
    [{ rider_name: 'Ann', rider_uuid: 7 }, 'invalid_field', 'rider_uuid'],
    [{ rider_name: 'Ann', rider_uuid: '' }, 'invalid_field', 'rider_uuid'],
    [{ rider_name: 'Ann', rider_uuid: 'x'.repeat(256) }, 'invalid_field', 'rider_uuid'],
    [{ rider: ['+351'], rider_uuid: 'Ann' }, 'invalid_field', 'rider'],
    // It would be stored as it is.
    [['Ann'], 'invalid_field', undefined],
  ])('%j is refused as a body, and the error shows nothing of it', async (body: Json, code, field) => {
    const error: unknown = await sealed.trips.put({ ...cellOf(trip()), body }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, field: ['body', field ?? []].flat().join('.') });
    expect(String(error)).not.toMatch(/Ann|\+351|xxx/u);
    await expect(sealed.trips.batchPut([cellOf(trip()), { ...cellOf(trip()), body }])).rejects.toMatchObject({
      field: ['cells[1].body', field ?? []].flat().join('.'),
    });
  });

  it('is nothing in bodies without such fields, and in other columns: these need no subject', async () => {
    const bodies: readonly Json[] = [null, {}, { rider_uuid: 5 }, { rider_name: null }, { rider: {} }];
    for (const body of bodies) {
      const one = { ...cellOf(trip()), body };
      expect((await sealed.trips.put(one)).outcome).toBe('stored');
      expect((await sealed.trips.get(one)).cell?.body).toEqual(body);
      expect(await sealed.body(one)).toEqual(body);
    }
    const note = { ...cellOf(trip()), column_name: 'NOTE', body: { rider_name: 'Ann' } };
    expect((await sealed.trips.put(note)).outcome).toBe('stored');
    expect(await sealed.body(note)).toEqual(note.body);
  });
});

describe('a datastore of which no field is sealed', () => {
  it('is the store itself: nothing stands before it, and no key is asked for', async () => {
    const { topology, nameOf } = sealed.store;
    const keys = { ...sealed.keys, root: () => Promise.reject(new Error('asked for')) };
    const seal = vi.fn<Seal>(sealUnder(topology, keys));
    const over = sealed.store.open(seal);
    const name = nameOf('open');
    const one = { ...trip(), column_name: 'BASE' };
    expect((await (await over.datastore(name)).put(cellOf(one))).outcome).toBe('stored');
    expect((await (await over.datastore(name)).get(one)).cell?.body).toEqual(one.body);
    expect(seal).not.toHaveBeenCalled();
    await over.datastore(sealed.name);
    expect(seal).toHaveBeenCalledOnce();
  });
});
