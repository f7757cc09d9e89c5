import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Cell, PutResult } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { defineModel } from '../../../shared/models/model.ts';
import { unchecked } from '../../../shared/models/judged-by.ts';
import { opened } from '../client/opened.ts';

interface Account {
  readonly owner: number;
  readonly balance: number;
  readonly note?: string;
}

const primary = { index: 'accounts', shardOn: { owner: 'integer' } } as const;
const accountsIn = (datastore: SchemalessClient) =>
  defineModel({ name: 'account', datastore, cells: { base: unchecked<Account>() }, primary });

const nobodyKnows: PutResult = { outcome: 'unavailable', shard: 0, reason: 'its group is away' };

/** How the next writes end, one by one: done or not, and what is heard of it. */
type Ending = 'done, and told' | 'done, not told' | 'not done, not told' | 'done, not answered';

function storeThat(endings: Ending[], changes: (real: Datastore) => Partial<Datastore> = () => ({})): SchemalessClient {
  return opened(
    (real) => ({
      async put(cell) {
        const ending = endings.shift() ?? 'done, and told';
        const result = ending === 'not done, not told' ? nobodyKnows : await real.put(cell);
        if (ending === 'done, not answered') throw new SchemalessError('unavailable', 'no answer');
        return ending === 'done, and told' ? result : nobodyKnows;
      },
      ...changes(real),
    }),
    { attempts: 1 },
  );
}

describe('a change by a function is saved once, however its last write ended', () => {
  const add = (body: Account) => ({ balance: body.balance + 5 });

  /** An account of 10, to which 5 were added by a write that ended so. */
  async function added(ending: Ending) {
    const accounts = accountsIn(storeThat(['done, and told', ending]));
    const account = await accounts.put({ owner: 1, balance: 10 });
    await expect(account.update(add)).rejects.toMatchObject({ code: 'unavailable' });
    return { accounts, account };
  }

  it.each<Ending>(['done, not told', 'not done, not told', 'done, not answered'])('%s', async (ending) => {
    const { accounts, account } = await added(ending);
    expect(account.body.balance).toBe(15);
    await account.save();
    expect(account.ref_key).toBe(1);
    const found = await accounts.find({ owner: 1 });
    expect(found?.body).toEqual({ owner: 1, balance: 15 });
    expect(found?.ref_key).toBe(1);
  });

  it('also by the same update', async () => {
    const { accounts, account } = await added('done, not told');
    await account.update(add);
    expect((await accounts.find({ owner: 1 }))?.body.balance).toBe(15);
  });

  it('on top of what others wrote meanwhile, with what was set later', async () => {
    const { accounts, account } = await added('not done, not told');
    await (await accounts.find({ owner: 1 }))?.update({ balance: 100 });
    account.set('note', 'later');
    await expect(account.save()).rejects.toMatchObject({ code: 'version_conflict' });
    await account.save({ rebase: true });
    expect((await accounts.find({ owner: 1 }))?.body).toEqual({ owner: 1, balance: 105, note: 'later' });
  });

  it('with what its validator made, which may differ each time', async () => {
    let made = 0;
    const mark = z.object({ by: z.string(), mark: z.int().default(() => (made += 1)) });
    const datastore = storeThat(['done, and told', 'done, not told']);
    const accounts = defineModel({ name: 'marked', datastore, cells: { mark }, primary });
    const account = await accounts.put({ owner: 1 });
    const one = account.cells.mark.set('by', 'me');
    await expect(one.save()).rejects.toMatchObject({ code: 'unavailable' });
    await one.save();
    expect([one.ref_key, one.body]).toEqual([0, { by: 'me', mark: 1 }]);
  });
});

describe('a validator that makes something else of what it made is refused', () => {
  const hundredfold = z.object({ owner: z.int(), cents: z.number().transform((value) => value * 100) });
  const asNumber = z.object({ owner: z.int(), cents: z.coerce.string().transform(Number) });

  const modelWith = (base: typeof hundredfold | typeof asNumber) =>
    defineModel({ name: 'cents', datastore: storeThat([]), cells: { base }, primary });

  it('before anything is written', async () => {
    const accounts = modelWith(hundredfold);
    await expect(accounts.put({ owner: 1, cents: 1.5 })).rejects.toMatchObject({ code: 'invalid_body', field: 'base' });
    expect(await accounts.find({ owner: 1 })).toBeNull();
  });

  it('and one that leaves it as it is, is not', async () => {
    const accounts = modelWith(asNumber);
    await (await accounts.put({ owner: 1, cents: 15 })).update({ cents: 16 });
    expect((await accounts.find({ owner: 1 }))?.body).toEqual({ owner: 1, cents: 16 });
  });
});

describe('a cell that cannot be read costs itself alone', () => {
  const isDamaged = ({ body }: Cell): boolean => Object(body).note === 'damaged';
  const error = new SchemalessError('undecodable_body', 'its bytes are damaged');
  const damaged = (cell: Cell): Cell => (isDamaged(cell) ? { ...cell, body: null, error } : cell);

  it('of a shard: those behind it come, and it with its error', async () => {
    const datastore = storeThat([], (real) => ({
      async log(locations, options) {
        const logs = await real.log(locations, options);
        return logs.map((log) => (log.error ? log : { ...log, cells: log.cells.map(damaged) }));
      },
    }));
    const accounts = accountsIn(datastore);
    const account = await accounts.put({ owner: 1, balance: 1 });
    await account.update({ note: 'damaged' });
    await account.update({ note: 'behind it' });
    const shard = (await datastore.heads()).find((one) => one.error === undefined && one.head > 0)?.shard ?? -1;
    const { cells, cursor } = await accounts.fetchLatestCells({ shard });
    expect(cells.map(({ ref_key, body, error }) => [ref_key, Object(body).note, error?.code])).toEqual([
      [0, undefined, undefined],
      [1, undefined, 'undecodable_body'],
      [2, 'behind it', undefined],
    ]);
    expect(cursor).toBe(3);
  });

  it('of a search: the records behind it come, and it says why when it is read', async () => {
    const datastore = storeThat([], (real) => ({
      async query() {
        const found = await Promise.all([1, 2].map((owner) => real.row(accounts.rowKey({ owner }))));
        const entries = found.map(({ cells }) => ({
          row_key: cells[0]?.row_key ?? '',
          fields: {},
          cells: cells.map(damaged),
        }));
        return { entries, next: null, served_by: 'writer', stale: false };
      },
    }));
    const accounts = accountsIn(datastore);
    await accounts.put({ owner: 1, balance: 1, note: 'damaged' });
    await accounts.put({ owner: 2, balance: 2 });
    const [first, second] = await accounts.where({ owner: 1 }).toArray();
    expect(first?.ref_key).toBe(0);
    expect(() => first?.body).toThrow(expect.objectContaining({ code: 'undecodable_body' }));
    await expect(first?.update({ balance: 3 })).rejects.toMatchObject({ code: 'undecodable_body' });
    expect(second?.body.balance).toBe(2);
  });

  it('of a record whose latest version was erased: it is empty, and the next one can be written', async () => {
    const erase = (cell: Cell): Cell => (isDamaged(cell) ? { ...cell, body: null, erased: true } : cell);
    const datastore = storeThat([], (real) => ({
      async row(rowKey, options) {
        const page = await real.row(rowKey, options);
        return { ...page, cells: page.cells.map(erase) };
      },
    }));
    const accounts = accountsIn(datastore);
    await accounts.put({ owner: 1, balance: 1, note: 'damaged' });
    const erased = await accounts.find({ owner: 1 });
    expect([erased?.ref_key, erased?.body]).toEqual([0, {}]);
    const again = await accounts.put({ owner: 1, balance: 2 });
    expect([again.ref_key, again.body]).toEqual([1, { owner: 1, balance: 2 }]);
    await erased?.update({ balance: 3 }, { rebase: true });
    expect([erased?.ref_key, erased?.body.balance]).toEqual([2, 3]);
  });

  it('of a record that may not be written any more: a save says so, and is not done', async () => {
    let isErased = false;
    const accounts = accountsIn(
      opened((real) => ({
        put: (cell) => (isErased ? Promise.resolve({ outcome: 'erased', shard: 0 }) : real.put(cell)),
      })),
    );
    const account = await accounts.put({ owner: 1, balance: 1 });
    isErased = true;
    await expect(account.update({ balance: 2 })).rejects.toMatchObject({ code: 'erased', retry: 'never' });
    expect(account.ref_key).toBe(0);
  });

  it('of a log: an erasure comes at its place, also that of a whole record', async () => {
    const erasure = { id: 'an id', scope: 'column', reason: 'request 4711' } as const;
    const cell = { row_key: randomUUID(), body: null, shard: 0, created_at: '2026-01-31T08:00:00.000000Z' };
    const cells: readonly Cell[] = [
      { ...cell, column_name: 'base', ref_key: 4, added_id: 1, erasure },
      { ...cell, column_name: 'another', ref_key: 4, added_id: 2, erasure },
      { ...cell, column_name: '', ref_key: 4, added_id: 3, erasure: { ...erasure, scope: 'row' } },
    ];
    const log = [{ shard: 0, cells, next: 3, more: false, served_by: 'writer', stale: false } as const];
    const found = await accountsIn(opened({ log: async () => log })).fetchLatestCells({ shard: 0 });
    expect(found.cells.map((one) => [one.added_id, one.cell, one.body, one.erasure?.scope])).toEqual([
      [1, 'base', null, 'column'],
      [3, '', null, 'row'],
    ]);
  });
});
