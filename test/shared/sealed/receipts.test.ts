import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { canonicalForm } from '../../../shared/body/canonical-form.ts';
import { verifyReceipt, type Receipt } from '../../../shared/client/receipts.ts';
import { sealUnder } from '../../../shared/sealed/seal.ts';
import { subjectManagement } from '../../../shared/sealed/subject-management.ts';
import type { KeyStore } from '../../../shared/sealed/key-store.ts';
import { openEraser, type Eraser } from '../erasures/support.ts';
import { openSealed, type SealedStore } from './support.ts';

let sealed: SealedStore;
let eraser: Eraser;

beforeAll(async () => {
  sealed = await openSealed({ shards: 1 });
  eraser = await openEraser(sealed.store, 'sealed');
});
afterAll(() => sealed.store.close());

const REASON = 'Anfrage 4711, "über" \u2028 die Straße';
const key = () => sealed.management.receiptKey(sealed.name);
const verdictOf = async (record: object) => verifyReceipt(record as Receipt, await key());

describe('a record', () => {
  it('of a forgotten subject and of an erasure is signed, wherever it is answered, by one key for good', async () => {
    const erasures = sealed.management.signed(sealed.name, eraser.operations);
    const row_key = randomUUID();
    await sealed.trips.put({ row_key, column_name: 'NOTE', ref_key: 1, body: 1 });
    const erased = await erasures.erase({ row_key, reason: REASON });
    const forgotten = await sealed.subjects.forget({ subject: row_key, reason: REASON });
    const records = [
      erased,
      await erasures.erasure(erased.id),
      ...(await erasures.erasures()).erasures,
      forgotten,
      ...(await sealed.subjects.forgotten()).subjects,
    ];
    expect(records).toHaveLength(5);
    // As it is kept: written, and read again.
    for (const record of records) expect(await verdictOf(JSON.parse(JSON.stringify(record)) as object)).toBe('right');
    const another = subjectManagement({
      topology: sealed.store.topology,
      stateTable: sealed.stateTable,
      keys: sealed.keys,
      keyDays: 35,
    });
    expect(await another.receiptKey(sealed.name)).toEqual(await key());
  });

  it('of which any byte was changed is not what was signed', async () => {
    const record = await sealed.subjects.forget({ subject: randomUUID(), reason: 'request 4711' });
    const text = JSON.stringify(record);
    expect(await verdictOf(JSON.parse(text) as object)).toBe('right');
    let judged = 0;
    for (let at = 0; at < text.length; at += 1) {
      const other = text[at] === '1' ? '2' : '1';
      const changed = parsed(text.slice(0, at) + other + text.slice(at + 1));
      if (!changed) continue;
      judged += 1;
      // In the name of the member, or in that of the key: there is nothing then by which it could be right.
      expect(['changed', 'unsigned', 'other_key'], `byte ${at}`).toContain(await verdictOf(changed));
    }
    expect(judged).toBeGreaterThan(text.length / 2);
    expect(await verdictOf({ ...record, more: null })).toBe('changed');
    const { reason: _reason, ...less } = record;
    expect(await verdictOf(less)).toBe('changed');
    // The order of its members means nothing.
    expect(await verdictOf(Object.fromEntries(Object.entries(record).toReversed()))).toBe('right');
  });

  it('that is not done is not signed', async () => {
    const done = await eraser.operations.erase({ row_key: randomUUID(), reason: REASON });
    const open = { ...eraser.operations, erasure: async () => ({ ...done, state: 'erasing' as const }) };
    expect((await sealed.management.signed(sealed.name, open).erasure(done.id)).signature).toBeNull();
  });

  it('is answered without a signature, and says so, where the keys cannot be reached: what is done is done', async () => {
    const errors: unknown[] = [];
    const away: KeyStore = { ...sealed.keys, root: () => Promise.reject(new Error('no secret')) };
    const management = subjectManagement({
      stateTable: sealed.stateTable,
      topology: sealed.store.topology,
      keys: away,
      keyDays: 35,
      unsigned: (error) => void errors.push(error),
    });
    const erased = await management
      .signed(sealed.name, eraser.operations)
      .erase({ row_key: randomUUID(), reason: 'x' });
    expect(erased).toMatchObject({ state: 'erased', signature: null });
    expect(errors).toMatchObject([{ code: 'unavailable' }]);
    await expect(
      (await management.subjects(sealed.name, 'tester')).forget({ subject: 'a', reason: 'x' }),
    ).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('without a root key', () => {
  it('nothing is sealed, opened or forgotten, which no repetition changes, and no record warns that it is not signed', async () => {
    const keys: KeyStore = { ...sealed.keys, root: undefined };
    const { topology } = sealed.store;
    const unsigned = vi.fn<(error: unknown) => void>();
    const management = subjectManagement({ topology, stateTable: sealed.stateTable, keys, keyDays: 35, unsigned });
    const erasures = management.signed(sealed.name, eraser.operations);
    const erased = await erasures.erase({ row_key: randomUUID(), reason: 'x' });
    expect(erased).toMatchObject({ state: 'erased', signature: null });
    expect(unsigned).not.toHaveBeenCalled();
    const trips = await sealUnder(topology, keys)(sealed.stored);
    const cell = { row_key: randomUUID(), column_name: 'BASE', ref_key: 1, body: { rider_uuid: 'a', rider_name: 'b' } };
    await sealed.trips.put(cell);
    const none = { code: 'no_root_key', retry: 'never' };
    await expect(trips.put({ ...cell, ref_key: 2 })).rejects.toMatchObject(none);
    await expect(trips.get(cell)).rejects.toMatchObject(none);
    await expect(management.receiptKey(sealed.name)).rejects.toMatchObject(none);
    const subjects = await management.subjects(sealed.name, 'tester');
    await expect(subjects.forget({ subject: 'a', reason: 'x' })).rejects.toMatchObject(none);
  });

  it('while with one a page of records asks once for the key that signs them', async () => {
    const read = vi.spyOn(sealed.keys.table.client, 'send');
    const management = subjectManagement({
      topology: sealed.store.topology,
      stateTable: sealed.stateTable,
      keys: sealed.keys,
      keyDays: 35,
    });
    await (await management.subjects(sealed.name, 'tester')).forgotten();
    const asked = read.mock.calls.map(([command]) => JSON.stringify(command.input));
    expect(asked.filter((input) => input.includes('signing#'))).toHaveLength(1);
    read.mockRestore();
  });
});

function parsed(text: string): object | undefined {
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

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
