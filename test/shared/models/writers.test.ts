import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { defineModel } from '../../../shared/models/model.ts';
import { faults } from '../../support/faulty-client.ts';
import { newHotel, openRates, RATES, rateOf, ratesIn } from './support/rates.ts';

/** Many who write one record at the same moment, on real servers, in process and over HTTP in turn. */
const WRITERS = 32;
const PUTTERS = 6;

const between = faults();
const store = await openRates({ wrap: between.wrap });
afterAll(() => store.close());

afterEach(() => between.behaviours.clear());

const modelOf = (_writer: number) => ratesIn(store.datastore);
const each = (count: number): readonly number[] => Array.from({ length: count }, (_, position) => position);

describe('putters of one tuple', () => {
  it('make one row, of which every one has a version', async () => {
    const hotel = newHotel();
    const rates = await Promise.all(
      each(PUTTERS).map((writer) => modelOf(writer).put(rateOf(hotel, { [`by_${writer}`]: true }))),
    );
    expect(new Set(rates.map(({ uuid }) => uuid)).size).toBe(1);
    expect(new Set(rates.map(({ ref_key }) => ref_key))).toEqual(new Set(each(PUTTERS)));
    const found = await modelOf(0).find(rateOf(hotel, {}));
    expect(found?.ref_key).toBe(PUTTERS - 1);
    expect(found?.body).toMatchObject(Object.fromEntries(each(PUTTERS).map((writer) => [`by_${writer}`, true])));
    await expect.poll(() => modelOf(0).where({ hotel_id: hotel }).toArray()).toHaveLength(1);
  });

  it('without it, writers that read first and then pick a row key make a row each', async () => {
    const hotel_id = newHotel();
    const where = { hotel_id };
    const find = () => store.datastore.query({ index: 'rate_primary', where });
    // All have read before the first one writes.
    const polls = await Promise.all(each(PUTTERS).map(find));
    await Promise.all(
      polls.map(async ({ entries: [entry] }, by) => {
        const row_key = entry?.row_key ?? randomUUID();
        await store.datastore.put({ row_key, column_name: 'base', ref_key: 0, body: { ...rateOf(hotel_id, { by }) } });
      }),
    );
    await expect.poll(async () => (await find()).entries.length).toBe(PUTTERS);
  });
});

describe('writers of one record', () => {
  it('get `version_conflict` for a version of another writer, and succeed after they read it', async () => {
    const one = await modelOf(0).put(rateOf(newHotel(), { net_price: 1 }));
    const other = await modelOf(1).findRow(one.uuid);
    await other?.update({ net_price: 2 });
    await expect(one.update({ tax: 3 })).rejects.toMatchObject({
      code: 'version_conflict',
      retry: 'later',
      details: { field: 'ref_key', more: { latest: 1 } },
    });
    // Nothing was written, and what was to be written is still at hand.
    expect([one.ref_key, one.get('tax')]).toEqual([0, 3]);
    await one.reload();
    await one.update({ tax: 3 });
    expect(one.body).toMatchObject({ net_price: 2, tax: 3 });
    expect(one.ref_key).toBe(2);
  });

  it('save the changed cells of a record together, or none if a version of one is taken', async () => {
    const one = await modelOf(0).put(rateOf(newHotel(), { net_price: 1 }));
    const other = await modelOf(1).findRow(one.uuid);
    one.set('net_price', 2);
    one.cells.meta.set('by', 'one');
    await one.saveAll();
    expect([one.ref_key, one.cells.meta.ref_key]).toEqual([1, 0]);
    expect(one.cells.meta.added_id).toBe((one.added_id ?? 0) + 1);
    other?.set('net_price', 3);
    other?.cells.meta.set('by', 'other');
    await expect(other?.saveAll()).rejects.toMatchObject({ code: 'version_conflict' });
    await other?.cells.meta.reload();
    other?.cells.meta.set('by', 'other');
    await expect(other?.saveAll()).rejects.toMatchObject({ code: 'version_conflict' });
    const found = await modelOf(2).findRow(one.uuid);
    expect([found?.get('net_price'), found?.cells.meta.ref_key, found?.cells.meta.get('by')]).toEqual([2, 0, 'one']);
  });

  it('of whom 32 save at once are one who wrote, and 31 who are told', async () => {
    const { uuid } = await modelOf(0).put(rateOf(newHotel(), {}));
    const records = await Promise.all(each(WRITERS).map((writer) => modelOf(writer).findRow(uuid)));
    const results = await Promise.allSettled(records.map((record, writer) => record?.set('by', writer).save()));
    const refused = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason.code);
    expect(refused).toEqual(Array.from({ length: WRITERS - 1 }, () => 'version_conflict'));
    const found = await modelOf(0).findRow(uuid);
    expect(found?.ref_key).toBe(1);
    expect(results[Number(found?.get('by'))]?.status).toBe('fulfilled');
  });

  it('of whom 32 rebase at once lose nothing: a version each, and the changes of all', async () => {
    const { uuid } = await modelOf(0).put(rateOf(newHotel(), { total: 0 }));
    const records = await Promise.all(each(WRITERS).map((writer) => modelOf(writer).findRow(uuid)));
    await Promise.all(
      records.map((record, writer) =>
        record?.update(({ total }) => ({ total: Number(total) + 1, by: writer, [`by_${writer}`]: true }), {
          rebase: true,
        }),
      ),
    );
    const found = await modelOf(0).findRow(uuid);
    expect([found?.ref_key, found?.get('total')]).toEqual([WRITERS, WRITERS]);
    for (const writer of each(WRITERS)) expect(found?.get(`by_${writer}`)).toBe(true);
  });
});

describe('while the primary is down', () => {
  it('a save is buffered, the next one goes on from it, and what is not confirmed is thrown and saved again', async () => {
    const rate = await modelOf(0).put(rateOf(newHotel(), { net_price: 1 }));
    const { homes = [] } = (await store.topology.datastore(store.nameOf('rates'))) ?? {};
    const { cell } = await store.datastore.getLatest({ row_key: rate.uuid, column_name: 'base' });
    between.behaviours.set(homes[cell?.shard ?? -1]?.group ?? '', 'down');
    await rate.update({ net_price: 2 });
    expect([rate.ref_key, rate.added_id, rate.created_at]).toEqual([1, null, null]);
    await rate.update({ net_price: 3 });
    expect(rate.ref_key).toBe(2);
    for (const { name } of store.groups) between.behaviours.set(name, 'down');
    await expect(rate.update({ net_price: 4 })).rejects.toMatchObject({ code: 'unavailable', retry: 'later' });
    between.behaviours.clear();
    await rate.save();
    expect([rate.ref_key, rate.get('net_price')]).toEqual([3, 4]);
    expect((await modelOf(0).findRow(rate.uuid))?.get('net_price')).toBe(4);
  });
});

it('fields of a named index may change where that is declared, and its entry follows', async () => {
  const { primary, indexes } = RATES;
  const byGateway = { ...indexes.byGateway, mutable: true } as const;
  const rates = defineModel({ name: 'rate', datastore: store.datastore, primary, indexes: { byGateway } });
  const hotel = newHotel();
  const [before, after] = [`before ${hotel}`, `after ${hotel}`];
  const rate = await rates.put(rateOf(hotel, { gateway: before }));
  await rate.update({ gateway: after });
  const found = (gateway: string) => rates.indexes.byGateway.where({ gateway }).toArray();
  await expect.poll(async () => [(await found(before)).length, (await found(after)).length]).toEqual([0, 1]);
  await expect(rate.update({ room_type: 'other' })).rejects.toMatchObject({ code: 'readonly_field' });
});
