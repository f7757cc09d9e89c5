import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Cell, Json, NewCell } from '../../../shared/cell.ts';
import type { Found } from '../../../shared/contract/datastore.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { sealUnder } from '../../../shared/sealed/seal.ts';
import type { Seal } from '../../../shared/store/deployment.ts';
import { putHold, releaseHold } from '../../../shared/erasures/holds.ts';
import { readToken } from '../../../shared/sealed/sealing.ts';
import { subjectManagement } from '../../../shared/sealed/subject-management.ts';
import { KNOWN_MS } from '../../../shared/sealed/subject-keyring.ts';
import { shardOf } from '../../../shared/address.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { newTable } from '../../support/dynamo.ts';
import { faults } from '../../support/faulty-client.ts';
import { eq, indexOn } from '../../support/index-on.ts';
import { lookedUp } from '../../support/looked-up-together.ts';
import { placesOf } from './places.ts';
import { openSealed, type SealedStore } from './support.ts';

const REASON = 'request 4711';
const broken = faults();
let sealed: SealedStore;

beforeAll(async () => {
  sealed = await openSealed({
    indexes: [
      indexOn('by_email', { rider_email: 'string', city: 'string' }),
      indexOn('by_city', { city: 'string', rider_email: 'string' }),
    ],
    wrap: broken.wrap,
  });
});
afterEach(() => broken.behaviours.clear());
afterAll(() => sealed.store.close());

/** Planted, and looked for in every place. */
const mark = (): string => `mark-${randomUUID()}`;

interface Planted extends NewCell {
  readonly rider: string;
  readonly driver: string;
  /** What is sealed of the rider. */
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  /** Of the driver. */
  readonly note: string;
  /** Not sealed. */
  readonly plain: string;
  readonly body: { readonly [key: string]: Json };
}

function trip(
  changes: { readonly rider?: string; readonly row_key?: string; readonly ref_key?: number } = {},
): Planted {
  const { rider = randomUUID(), row_key = randomUUID(), ref_key = 1 } = changes;
  const [driver, name, email, phone, note, plain] = [randomUUID(), mark(), mark(), mark(), mark(), mark()];
  const body = {
    rider_uuid: rider,
    rider_name: name,
    rider: { phone, since: 2019 },
    rider_email: email,
    driver_uuid: driver,
    driver_note: { text: note, stars: [5, 4] },
    city: plain,
  };
  return { row_key, column_name: 'BASE', ref_key, body, rider, driver, name, email, phone, note, plain };
}

const cellOf = ({ row_key, column_name, ref_key, body }: NewCell): NewCell => ({
  row_key,
  column_name,
  ref_key,
  body,
});

/** Everything that reads a cell, each as the body and the paths that were forgotten. */
async function readings(one: Planted, trips = sealed.trips, options: { readonly sealed?: boolean } = {}) {
  const { row_key, column_name, ref_key } = one;
  const key = { row_key, column_name };
  const [got, latest, versions, row, batch, together] = await Promise.all([
    trips.get({ ...key, ref_key }, options),
    trips.getLatest(key, options),
    trips.versions(key, options),
    trips.row(row_key, options),
    trips.batchGet([{ ...key, ref_key }], options),
    lookedUp(trips, [{ ...key, ref_key }], options),
  ]);
  const cell = got.cell as Cell;
  const logs = await trips.log([{ shard: cell.shard, after: cell.added_id - 1 }], { limit: 1, ...options });
  const [log] = logs;
  const inLog = log && 'cells' in log ? log.cells[0] : undefined;
  const [lookUp] = together as readonly Found[];
  return [cell, latest.cell, versions.cells[0], row.cells[0], batch[0] as Cell, lookUp?.cell, inLog].map((read) => ({
    body: read?.body,
    forgotten: read?.forgotten,
  }));
}

async function stored(one: NewCell): Promise<{ readonly [key: string]: Json }> {
  const { cell } = await sealed.stored.get(one);
  return cell?.body as { readonly [key: string]: Json };
}

const forget = (subject: string) => sealed.subjects.forget({ subject, reason: REASON });
const places = (text: string) => placesOf(text, sealed.store, [sealed.keysTable, sealed.store.topologyTable]);

describe('what is sealed', () => {
  it('is read as it was written, by every read and every instance, and stays sealed where that is asked for', async () => {
    const one = trip();
    expect((await sealed.trips.put(cellOf(one))).outcome).toBe('stored');
    for (const trips of [sealed.trips, await sealed.another()])
      for (const read of await readings(one, trips)) expect(read).toEqual({ body: one.body, forgotten: undefined });
    const kept = await stored(one);
    expect(kept).toMatchObject({ rider_uuid: one.rider, city: one.plain, rider: { since: 2019 } });
    expect(kept['rider_name']).toEqual({ $sealed: expect.stringMatching(/^1\./u) });
    expect(kept['rider_email']).toEqual({ $sealed: expect.any(String), $hash: expect.any(String) });
    for (const read of await readings(one, sealed.trips, { sealed: true })) expect(read.body).toEqual(kept);
  });

  it('lies nowhere as it was written: in no table, buffer, kept copy, index or table of keys', async () => {
    const one = trip();
    expect((await sealed.trips.put(cellOf(one))).outcome).toBe('stored');
    const [buffered, kept] = [trip(), trip()];
    const topology = await sealed.store.topology.datastore(sealed.name);
    const { cell } = await sealed.trips.get(one);
    broken.behaviours.set(topology?.homes[cell?.shard ?? 0]?.group ?? '', 'down');
    const [later] = await sealed.trips.batchPut([{ ...cellOf(kept), row_key: one.row_key }]);
    expect(later?.outcome).toBe('buffered');
    const waiting = { ...cellOf(buffered), row_key: one.row_key, ref_key: 2 };
    expect((await sealed.trips.put(waiting)).outcome).toBe('buffered');
    broken.behaviours.clear();
    // The search finds what is not sealed, in logs, buffers and indexes, so that it would find the rest.
    expect((await places(one.plain)).map((place) => place.split(': ')[1]?.replace(/_[0-9a-f]+$/u, ''))).toEqual(
      expect.arrayContaining(['entity', 'buffer', 'by_city']),
    );
    expect(await places(buffered.plain)).not.toEqual([]);
    for (const planted of [one, buffered, kept])
      for (const secret of [planted.name, planted.email, planted.phone, planted.note])
        expect(await places(secret)).toEqual([]);
    for (const { name } of sealed.store.groups) await drainAtOnce(sealed.store.context, name);
    expect((await sealed.trips.get(waiting)).cell?.body).toEqual(buffered.body);
    // The other body for an address that was taken is kept as a conflict, sealed as it was buffered.
    expect(await places(kept.plain)).not.toEqual([]);
    expect(await places(kept.name)).toEqual([]);
    // The table of keys says of nobody who it is.
    expect((await places(one.rider)).every((place) => place.includes(': '))).toBe(true);
  });

  it('is the same cell once more, from any instance, after an answer that was lost, in any order of keys', async () => {
    const one = trip();
    for (const { name } of sealed.store.groups) broken.behaviours.set(name, 'lost-answers');
    expect(['unavailable', 'buffered']).toContain((await sealed.trips.put(cellOf(one))).outcome);
    broken.behaviours.clear();
    for (const { name } of sealed.store.groups) await drainAtOnce(sealed.store.context, name);
    const other = await sealed.another();
    expect((await other.put(cellOf(one))).outcome).toBe('stored_before');
    const { driver_note, ...rest } = one.body;
    const { text, stars } = driver_note as { readonly [key: string]: Json };
    const turned = { driver_note: { stars: stars ?? null, text: text ?? null }, ...rest };
    expect((await other.put({ ...cellOf(one), body: turned })).outcome).toBe('stored_before');
    expect((await other.batchPut([{ ...cellOf(one), body: turned }]))[0]?.outcome).toBe('stored_before');
    expect((await other.put({ ...cellOf(one), body: { ...one.body, rider_name: 'other' } })).outcome).toBe('conflict');
    const { cells } = await sealed.trips.versions(one);
    expect(cells).toHaveLength(1);
  });

  it('is no conflict where it comes again in another order of keys while the primary is away', async () => {
    const one = trip();
    const topology = await sealed.store.topology.datastore(sealed.name);
    const shard = shardOf(one.row_key, topology?.shards ?? 0);
    broken.behaviours.set(topology?.homes[shard]?.group ?? '', 'down');
    const { text, stars } = one.body['driver_note'] as { readonly [key: string]: Json };
    const turned = { ...one.body, driver_note: { stars: stars ?? null, text: text ?? null } };
    for (const body of [one.body, turned])
      expect((await sealed.trips.put({ ...cellOf(one), body })).outcome).toBe('buffered');
    broken.behaviours.clear();
    const drained = await Promise.all(sealed.store.groups.map(({ name }) => drainAtOnce(sealed.store.context, name)));
    expect(drained.map(({ conflicts }) => conflicts)).toEqual(drained.map(() => 0));
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
    read.mockRejectedValueOnce(new SchemalessError('unavailable', 'away'));
    const away = await sealed.trips.batchPut([...batch, cellOf(trip())]);
    expect(away.map(({ outcome }) => outcome)).toEqual(
      'unavailable unavailable stored_before unavailable stored'.split(' '),
    );
    read.mockRejectedValueOnce(new SchemalessError('undecodable_body', 'damaged'));
    const damaged = await sealed.trips.batchPut([...batch, cellOf(trip())]);
    expect(damaged.map(({ outcome }) => outcome)).toEqual([
      'conflict',
      'conflict',
      'stored_before',
      'conflict',
      'stored',
    ]);
    read.mockRestore();
    expect((await sealed.trips.put(cellOf(changed))).outcome).toBe('conflict');
  });

  it('has one key for each subject, however many instances write of it for the first time at once', async () => {
    const instances = await Promise.all([1, 2, 3, 4].map(() => sealed.another()));
    for (let round = 0; round < 5; round += 1) {
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
    await expect.poll(() => found([eq('rider_email', one.email)])).toHaveLength(1);
    const [entry] = await found([eq('rider_email', one.email)]);
    expect(entry).toMatchObject({ row_key: one.row_key, fields: { rider_email: null, city: one.plain } });
    expect(entry?.cells).toMatchObject([{ body: one.body }]);
    expect(await found([eq('city', two.plain), eq('rider_email', two.email)], 'by_city')).toHaveLength(1);
    expect(await found([eq('city', two.plain), eq('rider_email', one.email)], 'by_city')).toEqual([]);
    expect(await found([eq('rider_email', mark())])).toEqual([]);
    expect((await sealed.trips.count({ index: 'by_email', where: [eq('rider_email', two.email)] })).count).toBe(1);
    const among = { field: 'rider_email', operator: 'in' as const, values: [mark(), two.email] };
    expect(await found([eq('city', two.plain), among], 'by_city')).toHaveLength(1);
    for (const operator of ['lt', 'lte', 'gt', 'gte', 'ne'] as const)
      await expect(
        found([eq('city', two.plain), { field: 'rider_email', operator, values: ['a'] }], 'by_city'),
      ).rejects.toMatchObject({ code: 'invalid_field', field: `rider_email[${operator}]` });
    await expect(
      sealed.trips.query({ index: 'by_city', where: [eq('city', one.plain)], order: 'rider_email' }),
    ).rejects.toMatchObject({ code: 'invalid_field', field: 'order' });
    // Nor by its hash, which is in what `sealed` answers.
    const hash = String(Object((await stored(one))['rider_email']).$hash);
    expect(await found([eq('rider_email', hash)])).toEqual([]);
  });

  it('does not open at another address, nor once it was changed, and then names the cell', async () => {
    const [one, two] = [trip(), trip()];
    await sealed.trips.put(cellOf(one));
    const kept = await stored(one);
    const moved = { ...cellOf(two), body: kept };
    // Past all checks, as whoever can write SQL does it.
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
    const kept = await stored(one);
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
  ])('%j is refused as a body, and nothing of it is said', async (body: Json, code, field) => {
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
      expect(await stored(one)).toEqual(body);
    }
    const note = { ...cellOf(trip()), column_name: 'NOTE', body: { rider_name: 'Ann' } };
    expect((await sealed.trips.put(note)).outcome).toBe('stored');
    expect(await stored(note)).toEqual(note.body);
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

describe('a subject that was forgotten', () => {
  it('is read by nobody any more: at once by who comes anew, by all within the time that its record says', async () => {
    const rider = randomUUID();
    const [first, second] = [trip({ rider }), trip({ rider })];
    await sealed.trips.batchPut([cellOf(first), cellOf(second)]);
    const record = await forget(rider.toUpperCase());
    expect(record.had_key).toBe(true);
    const { body, driver } = first;
    const without = { ...body, rider_name: null, rider: { phone: null, since: 2019 }, rider_email: null };
    const paths = ['rider_name', 'rider.phone', 'rider_email'];
    for (const read of await readings(first, await sealed.another()))
      expect(read).toEqual({ body: without, forgotten: paths });
    // The instance that has its key in memory.
    await sleep(KNOWN_MS + 100);
    for (const read of await readings(first)) expect(read).toEqual({ body: without, forgotten: paths });
    expect((await sealed.trips.get(second)).cell).toMatchObject({ forgotten: paths, body: { rider_name: null } });
    expect(Date.parse(record.unreadable_from) - Date.parse(record.forgotten_at)).toBeGreaterThanOrEqual(KNOWN_MS);
    // Of two subjects in one cell the other one stays, until it is forgotten too.
    await forget(driver);
    const [both] = await readings(first, await sealed.another());
    expect(both).toEqual({ body: { ...without, driver_note: null }, forgotten: [...paths, 'driver_note'] });
  });

  it('has its cells where they were: with their hash in the index, by which they are found, and no value', async () => {
    const one = trip();
    await sealed.trips.put(cellOf(one));
    const record = await forget(one.rider);
    const trips = await sealed.another();
    const query = { index: 'by_email', where: [eq('rider_email', one.email)], columns: ['BASE'] };
    const { entries } = await trips.query(query);
    // As its record says.
    expect(await stored(one)).toMatchObject({ rider_email: { $hash: expect.any(String) } });
    expect(record.not_reached[0]).toMatch(/^keyed hashes .* in cells, indexes, backups and exports/u);
    expect(entries).toMatchObject([{ fields: { rider_email: null }, cells: [{ body: { rider_email: null } }] }]);
  });

  it('is written of by nobody: 409, one by one and in batches, and what names others is stored', async () => {
    const [one, other] = [trip(), trip()];
    await forget(one.rider);
    const trips = await sealed.another();
    expect(await trips.put(cellOf(one))).toMatchObject({ outcome: 'subject_forgotten', field: 'body.rider_uuid' });
    const results = await trips.batchPut([cellOf(other), cellOf(one), cellOf(trip())]);
    expect(results).toMatchObject([
      { outcome: 'stored' },
      { outcome: 'subject_forgotten', field: 'cells[1].body.rider_uuid' },
      { outcome: 'stored' },
    ]);
    expect((await trips.get(one)).cell).toBeNull();
    expect(await places(one.name)).toEqual([]);
    // What is not sealed may be written of anybody.
    const { rider_name: _name, rider: _phone, rider_email: _email, ...rest } = one.body;
    expect((await trips.put({ ...cellOf(one), body: rest })).outcome).toBe('stored');
  });

  it('has in its record whether there was a key, for good', async () => {
    const [never, written] = [randomUUID(), randomUUID()];
    await sealed.trips.put(cellOf(trip({ rider: written })));
    for (const _time of [1, 2]) {
      expect(await forget(never)).toMatchObject({ had_key: false });
      expect(await forget(written)).toMatchObject({ had_key: true });
    }
  });

  it('stays so: asked again, by name too, it answers the first record, and no key is made', async () => {
    const subject = `mail-${randomUUID()}@example.org`;
    const first = await forget(subject);
    const again = await sealed.subjects.forget({ subject, reason: 'once more' });
    const byName = await sealed.subjects.forget({ subject_name: first.subject_name, reason: 'once more' });
    expect([again, byName]).toEqual([first, first]);
    expect(first).toMatchObject({ reason: REASON, requested_by: 'tester', had_key: false });
    expect(JSON.stringify(first)).not.toContain(subject);
    const listed: string[] = [];
    let after: string | null | undefined;
    do {
      const page = await sealed.subjects.forgotten({ limit: 1, ...(after && { after }) });
      listed.push(...page.subjects.map(({ subject_name }) => subject_name));
      after = page.next;
    } while (after);
    expect(listed.filter((name) => name === first.subject_name)).toEqual([first.subject_name]);
    expect(await places(subject)).toEqual([]);
    // Whoever has no key cannot tell whose it is: with other keys it is another one.
    const keys = { ...sealed.keys, table: await newTable(sealed.keysTable.client) };
    const elsewhere = subjectManagement({
      topology: sealed.store.topology,
      stateTable: sealed.stateTable,
      keys,
      keyDays: 35,
    });
    const named = await (await elsewhere.subjects(sealed.name, 'tester')).forget({ subject, reason: REASON });
    expect(named.subject_name).not.toBe(first.subject_name);
  });

  it('are not forgotten while somebody holds them, by whatever name they are asked for', async () => {
    const subject = randomUUID();
    const one = trip({ rider: subject });
    await sealed.trips.put(cellOf(one));
    const token = (await stored(one))['rider_name'] as { readonly $sealed: string };
    const subject_name = String(readToken(token.$sealed)?.name);
    const other = await forget(randomUUID());
    const hold = {
      hold: 'case-17',
      requested_by: 'tester',
      requested_at: '2026-01-31T08:00:00.000Z',
      reason: 'evidence',
    };
    await putHold(sealed.stateTable, sealed.name, { subject }, { ...hold, row_key: null, subject });
    for (const request of [{ subject: subject.toUpperCase() }, { subject_name }])
      await expect(sealed.subjects.forget({ ...request, reason: REASON })).rejects.toMatchObject({ code: 'held' });
    expect(await sealed.subjects.forget({ subject_name: other.subject_name, reason: REASON })).toMatchObject(other);
    await releaseHold(sealed.stateTable, sealed.name, { subject, hold: 'case-17' }, async () => false);
    expect(await forget(subject)).toMatchObject({ had_key: true, subject_name });
  });

  it('that is written of by many while it is forgotten leaves nothing that anybody can read', async () => {
    const rider = randomUUID();
    const instances = await Promise.all([sealed.another(), sealed.another(), sealed.another(), sealed.another()]);
    const written: Planted[] = [];
    const refused: Planted[] = [];
    const end = performance.now() + KNOWN_MS + 1500;
    const writing = instances.map(async (trips) => {
      while (performance.now() < end) {
        const one = trip({ rider });
        const { outcome } = await trips.put(cellOf(one));
        (outcome === 'stored' ? written : refused).push(one);
        await sleep(20);
      }
    });
    await sleep(500);
    const record = await forget(rider);
    await Promise.all(writing);
    expect(written.length).toBeGreaterThan(20);
    expect(refused.length).toBeGreaterThan(20);
    expect(Date.now()).toBeGreaterThan(Date.parse(record.forgotten_at) + KNOWN_MS);
    for (const trips of [...instances, await sealed.another()]) {
      expect((await trips.put(cellOf(trip({ rider })))).outcome).toBe('subject_forgotten');
      const read = await Promise.all(written.map(async (one) => (await trips.get(one)).cell));
      expect(read.filter((cell) => cell?.forgotten?.length !== 3)).toEqual([]);
    }
    for (const one of written.slice(-3)) expect(await places(one.name)).toEqual([]);
  });

  it.each(['', 'x', 'abc=', '%%%', Buffer.from('forgotten').toString('base64url'), '\u0000'])(
    'is listed behind a place of the list alone, which %j is none of',
    async (after) => {
      const field = 'after';
      await expect(sealed.subjects.forgotten({ after })).rejects.toMatchObject({ code: 'invalid_field', field });
    },
  );

  it.each([
    [{}, 'missing_field', 'subject'],
    [{ subject: '' }, 'invalid_field', 'subject'],
    [{ subject: 'x'.repeat(256) }, 'invalid_field', 'subject'],
    [{ subject_name: 'xyz' }, 'invalid_field', 'subject_name'],
    [{ subject: 'a', subject_name: 'ab'.repeat(16) }, 'invalid_field', 'subject_name'],
  ])('%j names none', async (request, code, field) => {
    await expect(sealed.subjects.forget({ ...request, reason: REASON })).rejects.toMatchObject({ code, field });
  });
});
