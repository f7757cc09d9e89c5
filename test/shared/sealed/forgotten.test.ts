import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { SUBJECTS } from '../../../shared/api/subjects.ts';
import { sealUnder } from '../../../shared/sealed/seal.ts';
import { KNOWN_MS } from '../../../shared/sealed/subject-keyring.ts';
import { subjectManagement } from '../../../shared/sealed/subject-management.ts';
import { newTable } from '../../support/dynamo.ts';
import { indexOn } from '../../support/index-on.ts';
import { until } from '../../support/until.ts';
import { cellOf, openSealed, readings, trip, type Planted } from './support.ts';

const REASON = 'request 4711';
const sealed = await openSealed({ indexes: [indexOn('by_email', { rider_email: 'string', city: 'string' })] });
afterEach(() => void vi.restoreAllMocks());
afterAll(() => sealed.store.close());

/** Asked as the API reads it: a UUID in either case is the same. */
const forget = (subject: string) =>
  sealed.subjects.forgetSubject(SUBJECTS.forgetSubject.body.read({ subject, reason: REASON }, 'body'));

/** Lets time pass for what an instance keeps in memory: the clock goes on from there. */
function passOn(ms: number): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ms);
}

describe('a subject that was forgotten', () => {
  it('is unreadable: at once for new instances, for all within the time that its record says', async () => {
    const rider = randomUUID();
    const [first, second] = [trip({ rider }), trip({ rider })];
    await sealed.trips.batchPut([cellOf(first), cellOf(second)]);
    const record = await forget(rider.toUpperCase());
    expect(record.had_key).toBe(true);
    const { body, driver } = first;
    const without = { ...body, rider_name: null, rider: { phone: null, since: 2019 }, rider_email: null };
    const paths = ['rider_name', 'rider.phone', 'rider_email'];
    for (const read of await readings(await sealed.another(), first))
      expect(read).toEqual({ body: without, forgotten: paths });
    // The instance that has its key in memory.
    passOn(KNOWN_MS);
    for (const read of await readings(sealed.trips, first)) expect(read).toEqual({ body: without, forgotten: paths });
    expect((await sealed.trips.get(second)).cell).toMatchObject({ forgotten: paths, body: { rider_name: null } });
    expect(Date.parse(record.unreadable_from) - Date.parse(record.forgotten_at)).toBeGreaterThanOrEqual(KNOWN_MS);
    // Of two subjects in one cell the other one stays, until it is forgotten too.
    await forget(driver);
    const [both] = await readings(await sealed.another(), first);
    expect(both).toEqual({ body: { ...without, driver_note: null }, forgotten: [...paths, 'driver_note'] });
  });

  it('has its cells where they were: with their hash in the index, by which they are found, and no value', async () => {
    const one = trip();
    await sealed.trips.put(cellOf(one));
    const record = await forget(one.rider);
    const trips = await sealed.another();
    const query = { index: 'by_email', where: { rider_email: one.email }, columns: ['BASE'] };
    const entries = async () => (await trips.query(query)).entries;
    const found = [{ fields: { rider_email: null }, cells: [{ body: { rider_email: null } }] }];
    await expect.poll(entries).toMatchObject(found);
    // As its record says.
    expect(await sealed.body(one)).toMatchObject({ rider_email: { $hash: expect.any(String) } });
    expect(record.not_reached[0]).toMatch(/^keyed hashes .* in cells, indexes, backups and exports/u);
  });

  it('accepts no writes: 409, one by one and in batches, while cells of others are stored', async () => {
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
    const both = { ...cellOf(other), ref_key: 7 };
    expect(
      await trips.transact({ row_key: other.row_key, cells: [both, { ...cellOf(one), ref_key: 8 }] }),
    ).toMatchObject({
      outcome: 'subject_forgotten',
      field: 'cells[1].body.rider_uuid',
    });
    expect((await trips.get(both)).cell).toBeNull();
    expect((await trips.get(one)).cell).toBeNull();
    expect(await sealed.places(one.name)).toEqual([]);
    // Unsealed fields may be written of any subject.
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
    const again = await sealed.subjects.forgetSubject({ subject, reason: 'again' });
    const byName = await sealed.subjects.forgetSubject({ subject_name: first.subject_name, reason: 'again' });
    expect([again, byName]).toEqual([first, first]);
    expect(first).toMatchObject({ reason: REASON, requested_by: 'tester', had_key: false });
    expect(JSON.stringify(first)).not.toContain(subject);
    const listed: string[] = [];
    let after: string | null | undefined;
    do {
      const page = await sealed.subjects.listForgotten({ limit: 1, ...(after && { after }) });
      listed.push(...page.subjects.map(({ subject_name }) => subject_name));
      after = page.next;
    } while (after);
    expect(listed.filter((name) => name === first.subject_name)).toEqual([first.subject_name]);
    expect(await sealed.places(subject)).toEqual([]);
    // The name identifies no subject without the keys: other keys give another name.
    const keys = { ...sealed.keys, table: await newTable(sealed.keys.table.client) };
    const elsewhere = subjectManagement({ topology: sealed.store.topology, keys, keyDays: 35 });
    const named = await (await elsewhere.subjects(sealed.name, 'tester')).forgetSubject({ subject, reason: REASON });
    expect(named.subject_name).not.toBe(first.subject_name);
  });

  it('that many writers write of while it is forgotten leaves nothing readable', async () => {
    const rider = randomUUID();
    const instances = await Promise.all([sealed.another(), sealed.another(), sealed.another(), sealed.another()]);
    const written: Planted[] = [];
    const refused: Planted[] = [];
    const stop = new AbortController();
    const writing = instances.map(async (trips) => {
      while (!stop.signal.aborted) {
        const one = trip({ rider });
        const { outcome } = await trips.put(cellOf(one));
        (outcome === 'stored' ? written : refused).push(one);
      }
    });
    await until('cells are stored', () => written.length > 20);
    await forget(rider);
    passOn(KNOWN_MS);
    await until('cells are refused', () => refused.length > 20);
    stop.abort();
    await Promise.all(writing);
    for (const trips of [...instances, await sealed.another()]) {
      expect((await trips.put(cellOf(trip({ rider })))).outcome).toBe('subject_forgotten');
      const read = await Promise.all(written.map(async (one) => (await trips.get(one)).cell));
      expect(read.filter((cell) => cell?.forgotten?.length !== 3)).toEqual([]);
    }
    for (const one of written.slice(-3)) expect(await sealed.places(one.name)).toEqual([]);
  });

  it.each(['', 'x', 'abc=', '%%%', Buffer.from('forgotten').toString('base64url'), '\u0000'])(
    'is listed behind a place of the list alone, which %j is none of',
    async (after) => {
      const field = 'after';
      await expect(sealed.subjects.listForgotten({ after })).rejects.toMatchObject({ code: 'invalid_field', field });
    },
  );
});

it('without a root key nothing is sealed, opened or forgotten', async () => {
  const keys = { ...sealed.keys, root: undefined };
  const trips = await sealUnder(sealed.store.topology, keys)(sealed.stored);
  const one = trip();
  await sealed.trips.put(cellOf(one));
  const none = { code: 'no_root_key', retry: 'never' };
  await expect(trips.put({ ...cellOf(one), ref_key: 2 })).rejects.toMatchObject(none);
  await expect(trips.get(one)).rejects.toMatchObject(none);
  const { subjects } = subjectManagement({ topology: sealed.store.topology, keys, keyDays: 35 });
  const operations = await subjects(sealed.name, 'tester');
  await expect(operations.forgetSubject({ subject: one.rider, reason: REASON })).rejects.toMatchObject(none);
});

it('no subject is forgotten while the keys cannot be reached', async () => {
  const keys = { ...sealed.keys, root: () => Promise.reject(new Error('no secret')) };
  const { subjects } = subjectManagement({ topology: sealed.store.topology, keys, keyDays: 35 });
  const operations = await subjects(sealed.name, 'tester');
  const refused = { code: 'unavailable' };
  await expect(operations.forgetSubject({ subject: 'a', reason: REASON })).rejects.toMatchObject(refused);
});
