import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { canonicalForm } from '../../../shared/body/canonical-form.ts';
import { verifyReceipt, type Receipt } from '../../../shared/client/receipts.ts';
import { sealUnder } from '../../../shared/sealed/seal.ts';
import { subjectManagement } from '../../../shared/sealed/subject-management.ts';
import type { KeyStore } from '../../../shared/sealed/key-store.ts';
import { openEraser } from '../erasures/support.ts';
import { openSealed } from './support.ts';

const sealed = await openSealed({ shards: 1 });
const eraser = await openEraser(sealed.store, 'sealed');
afterAll(() => sealed.store.close());

const REASON = 'Anfrage 4711, "über" \u2028 die Straße';
const target = () => ({ row_key: randomUUID(), reason: REASON });
const verdictOf = async (record: object) =>
  verifyReceipt(record as Receipt, await sealed.management.receiptKey(sealed.name));
const managementWith = (keys: KeyStore, unsigned?: (error: unknown) => void) =>
  subjectManagement({
    topology: sealed.store.topology,
    stateTable: sealed.stateTable,
    keys,
    keyDays: 35,
    ...(unsigned && { unsigned }),
  });

describe('a record', () => {
  it('of a forgotten subject and of an erasure is signed, wherever it is answered, by one key for good', async () => {
    const erasures = sealed.management.signed(sealed.name, eraser.operations);
    const erased = await erasures.erase(target());
    const records = [
      erased,
      await erasures.erasure(erased.id),
      ...(await erasures.erasures()).erasures,
      await sealed.subjects.forget({ subject: randomUUID(), reason: REASON }),
      ...(await sealed.subjects.forgotten()).subjects,
    ];
    expect(records).toHaveLength(5);
    // As it is kept: written, and read again.
    for (const record of records) expect(await verdictOf(JSON.parse(JSON.stringify(record)) as object)).toBe('right');
    const key = await sealed.management.receiptKey(sealed.name);
    expect(await managementWith(sealed.keys).receiptKey(sealed.name)).toEqual(key);
  });

  it('of which a member was changed is not what was signed', async () => {
    const record = await sealed.subjects.forget({ subject: randomUUID(), reason: REASON });
    expect(await verdictOf({ ...record, more: null })).toBe('changed');
    expect(await verdictOf({ ...record, reason: 'another' })).toBe('changed');
    const { reason: _reason, ...less } = record;
    expect(await verdictOf(less)).toBe('changed');
    // The order of its members means nothing.
    expect(await verdictOf(Object.fromEntries(Object.entries(record).toReversed()))).toBe('right');
  });

  it('is answered without a signature, and says so, where the keys cannot be reached', async () => {
    const errors: unknown[] = [];
    const away: KeyStore = { ...sealed.keys, root: () => Promise.reject(new Error('no secret')) };
    const management = managementWith(away, (error) => void errors.push(error));
    const erased = await management.signed(sealed.name, eraser.operations).erase(target());
    expect(erased).toMatchObject({ signature: null });
    expect(errors).toMatchObject([{ code: 'unavailable' }]);
    const forgetting = (await management.subjects(sealed.name, 'tester')).forget({ subject: 'a', reason: 'x' });
    await expect(forgetting).rejects.toMatchObject({ code: 'unavailable' });
  });
});

it('without a root key nothing is sealed, opened or forgotten, and no record warns that it is not signed', async () => {
  const keys: KeyStore = { ...sealed.keys, root: undefined };
  const unsigned = vi.fn<(error: unknown) => void>();
  const management = managementWith(keys, unsigned);
  expect(await management.signed(sealed.name, eraser.operations).erase(target())).toMatchObject({ signature: null });
  expect(unsigned).not.toHaveBeenCalled();
  const trips = await sealUnder(sealed.store.topology, keys)(sealed.stored);
  const cell = { row_key: randomUUID(), column_name: 'BASE', ref_key: 1, body: { rider_uuid: 'a', rider_name: 'b' } };
  await sealed.trips.put(cell);
  const none = { code: 'no_root_key', retry: 'never' };
  await expect(trips.put({ ...cell, ref_key: 2 })).rejects.toMatchObject(none);
  await expect(trips.get(cell)).rejects.toMatchObject(none);
  await expect(management.receiptKey(sealed.name)).rejects.toMatchObject(none);
  const subjects = await management.subjects(sealed.name, 'tester');
  await expect(subjects.forget({ subject: 'a', reason: 'x' })).rejects.toMatchObject(none);
});

describe('the canonical form', () => {
  it.each([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    [{ '\u20ac': 1, '\r': 2, '1': 3, '\ufb33': 4, '\ud83d\ude00': 5 }, '{"\\r":2,"1":3,"€":1,"😀":5,"\ufb33":4}'],
    [[1e21, 1e-7, 4.5, -0, 333333333.3333333], '[1e+21,1e-7,4.5,0,333333333.3333333]'],
    ['\u20ac$\u000f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
  ])('of %j is that of RFC 8785', (value, text) => {
    expect(canonicalForm(value)).toBe(text);
  });

  it.each([[Number.NaN], [Infinity], ['\ud800'], [undefined], [1n]])('has no way to say %s', (value) => {
    expect(() => canonicalForm(value)).toThrow(TypeError);
  });
});
