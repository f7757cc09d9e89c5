import { afterAll, describe, expect, it } from 'vitest';
import { defineModel } from '../../../shared/models/model.ts';
import { shardOf } from '../../../shared/address.ts';
import { select } from '../../support/plain-sql.ts';
import { hotelsIn, newHotel, openRates, RATES, rateOf, ratesIn, SHARDS } from './support/rates.ts';

const store = await openRates();
afterAll(() => store.close());

describe('models', () => {
  const { datastore } = store;
  const rates = ratesIn(datastore);

  async function newRate<Body extends object>(body: Body) {
    const hotel = newHotel();
    const rate = await rates.put(rateOf(hotel, body) as never);
    await expect.poll(() => rates.where({ hotel_id: hotel }).toArray()).toHaveLength(1);
    return { hotel, rate };
  }

  describe('the store', () => {
    it('only adds versions', async () => {
      const rate = await rates.put(rateOf(newHotel(), { net_price: 1 }));
      await rate.update({ net_price: 2 });
      const { cells } = await datastore.versions({ row_key: rate.uuid, column_name: 'base' }, { order: 'asc' });
      const versions = [0, 1].map((ref_key) => ({ ref_key, body: { net_price: ref_key + 1 } }));
      expect(cells).toMatchObject(versions);
    });

    it('takes new members without a migration', async () => {
      const rate = await rates.put(rateOf(newHotel(), {}));
      await rate.update({ taxes: { city: 2.5 } });
      expect((await rates.findRow(rate.uuid))?.get('taxes')).toEqual({ city: 2.5 });
    });

    it('shards entries by shard field and cells by row key', async () => {
      const { hotel, rate } = await newRate({});
      const where = { hotel_id: hotel };
      const { explain, entries } = await datastore.query({ index: 'rate_primary', where, explain: true });
      expect(explain?.shard).toBe(await rates.findShard(hotel));
      expect(entries.map(({ row_key }) => row_key)).toEqual([rate.uuid]);
      const { cell } = await datastore.getLatest({ row_key: rate.uuid, column_name: 'base' });
      expect(cell?.shard).toBe(shardOf(rate.uuid, SHARDS));
    });

    it('stores any JSON object', async () => {
      const body = { nested: { list: [1, null, 'ü', true], large: 2n ** 60n }, none: null };
      const rate = await rates.put(rateOf(newHotel(), body));
      expect((await rates.findRow(rate.uuid))?.body).toMatchObject(body);
    });

    it('asks one index shard and returns the newest versions', async () => {
      const { hotel, rate } = await newRate({ net_price: 1 });
      await rate.update({ net_price: 2 });
      await rate.cells.meta.set('seen', true).save();
      const found = await rates.where({ hotel_id: hotel }).first();
      expect(found?.get('net_price')).toBe(2);
      expect(found?.ref_key).toBe(1);
      expect(found?.cells.meta.get('seen')).toBe(true);
    });

    it('writes index entries with the first put', async () => {
      const { hotel, rate } = await newRate({});
      const gateway = `pegasus ${hotel}`;
      await expect.poll(() => rates.indexes.byGateway.where({ gateway }).toArray()).toHaveLength(1);
      expect(rate.ref_key).toBe(0);
    });

    it('starts database names with the datastore name', async () => {
      const rate = await rates.put(rateOf(newHotel(), {}));
      const shard = rates.paddedShard(shardOf(rate.uuid, SHARDS));
      expect(await rates.findTable(rate.uuid)).toBe(`${store.nameOf('rates')}_${shard}.entity`);
    });

    it('numbers shards across groups', async () => {
      const shards = (await Array.fromAsync(rates.eachPartition())).flatMap((partition) => partition.shards);
      expect(shards.toSorted((a, b) => a - b)).toEqual(Array.from({ length: SHARDS }, (_, shard) => shard));
    });
  });

  describe('declaring', () => {
    it('is attached to a datastore by name', async () => {
      const tuple = { hotel_id: newHotel(), room_type: '1 bed', check_in_date: '2017-01-03' };
      const other = defineModel({ name: 'offer', datastore, primary: RATES.primary });
      expect(rates.rowKey(tuple)).not.toBe(other.rowKey(tuple));
      expect(await rates.find(tuple)).toBeNull();
    });

    it('shares a datastore with other models', async () => {
      const hotels = hotelsIn(datastore);
      const hotel_id = newHotel();
      const [hotel] = [await hotels.put({ hotel_id, stars: 4 }), await rates.put(rateOf(hotel_id, {}))];
      expect(hotel.base.column_name).toBe('hotel.base');
      await expect.poll(() => hotels.where({ hotel_id }).toArray()).toHaveLength(1);
      await expect.poll(() => rates.where({ hotel_id }).toArray()).toHaveLength(1);
      expect((await hotels.where({ hotel_id }).first())?.get('stars')).toBe(4);
    });

    it('has indexes with typed fields and a shard field', async () => {
      await expect(rates.put(rateOf('one' as never, {}))).rejects.toMatchObject({
        code: 'invalid_field',
        field: 'hotel_id',
        wanted: 'an integer of 64 bits',
      });
      const define = (shardOn: object) => () =>
        defineModel({ name: 'x', datastore, primary: { index: 'i', shardOn } as never });
      expect(define({})).toThrow('shardOn');
      expect(define({ a: 'string', b: 'string' })).toThrow('shardOn');
      expect(define({ 'a.b': 'string' })).toThrow('no paths');
    });

    it('has a primary index and named indexes', async () => {
      const { hotel, rate } = await newRate({});
      const gateway = `pegasus ${hotel}`;
      const byName = () => rates.indexes.byGateway.where({ gateway, discount_type: 'geo' }).toArray();
      await expect.poll(async () => (await byName()).map(({ uuid }) => uuid)).toEqual([rate.uuid]);
      expect(await rates.indexes.byGateway.where({ gateway, discount_type: 'none' }).first()).toBeNull();
    });

    it('has a base cell and independent cells', async () => {
      const rate = await rates.put(rateOf(newHotel(), {}));
      await rate.cells.meta.update({ enabled: true });
      await rate.cells.meta.update({ enabled: false });
      expect([rate.ref_key, rate.cells.meta.ref_key]).toEqual([0, 1]);
      const found = await rates.findRow(rate.uuid);
      expect(found?.cells.meta.body).toEqual({ enabled: false });
      expect(found?.ref_key).toBe(0);
    });
  });

  describe('writing', () => {
    it('upserts by the primary index', async () => {
      const hotel = newHotel();
      const first = await rates.put(rateOf(hotel, { net_price: 1, note: 'a' }));
      const second = await rates.put(rateOf(hotel, { net_price: 2 }));
      const same = await rates.put(rateOf(hotel, { net_price: 2 }));
      expect([first, second, same].map(({ ref_key }) => ref_key)).toEqual([0, 1, 1]);
      expect(new Set([first, second, same].map(({ uuid }) => uuid)).size).toBe(1);
      expect(same.body).toMatchObject({ net_price: 2, note: 'a' });
      const { gateway: _left, ...without } = rateOf(hotel, {});
      await expect(rates.put(without as never)).rejects.toMatchObject({ code: 'missing_field', field: 'gateway' });
    });

    it('reads and sets members', async () => {
      const rate = await rates.put(rateOf(newHotel(), { net_price: 1, note: 'a' }));
      expect(rate.get('net_price')).toBe(1);
      expect(rate.set('net_price', 2).get('net_price')).toBe(2);
      expect(rate.set('note', undefined).get('note')).toBeUndefined();
      expect((await rates.findRow(rate.uuid))?.get('net_price')).toBe(1);
      await rate.save();
      expect((await rates.findRow(rate.uuid))?.body).not.toHaveProperty('note');
    });

    it('saves a new version', async () => {
      const rate = await rates.put(rateOf(newHotel(), { net_price: 1 }));
      await rate.set('net_price', 2).save();
      await rate.cells.meta.set('enabled', true).save();
      expect([rate.ref_key, rate.cells.meta.ref_key]).toEqual([1, 0]);
      // Fields set during a save are part of the next one.
      const saving = rate.set('net_price', 3).save();
      rate.set('net_price', 4).set('note', 'late');
      await saving;
      expect([rate.ref_key, rate.get('net_price')]).toEqual([2, 4]);
      await rate.save();
      expect((await rates.findRow(rate.uuid))?.body).toMatchObject({ net_price: 4, note: 'late' });
      // Nothing differs.
      expect((await rate.set('net_price', 4).save()).ref_key).toBe(3);
    });

    it('merges and saves', async () => {
      const rate = await rates.put(rateOf(newHotel(), { net_price: 1, note: 'a' }));
      await rate.update({ net_price: 2, note: undefined });
      await rate.update((body) => ({ net_price: Number(body['net_price']) + 5 }));
      const found = await rates.findRow(rate.uuid);
      expect(found?.body).toMatchObject({ net_price: 7 });
      expect(found?.body).not.toHaveProperty('note');
      expect(found?.ref_key).toBe(2);
    });

    it('keeps index fields read-only', async () => {
      const rate = await rates.put(rateOf(newHotel(), {}));
      for (const change of [{ room_type: '2 beds' }, { gateway: 'other' }, { hotel_id: undefined }] as object[]) {
        const [field] = Object.keys(change);
        const refusal = { code: 'readonly_field', retry: 'never', details: { field } };
        await expect(rate.update(change)).rejects.toMatchObject(refusal);
        await expect(rate.update(() => change)).rejects.toMatchObject(refusal);
        expect(() => rate.set(field as 'room_type', Object(change)[field ?? ''])).toThrow(field);
      }
      // Unchanged index fields may be given again.
      await rate.update({ room_type: '1 bed', hotel_id: BigInt(Number(rate.get('hotel_id'))), net_price: 3 });
      expect(rate.ref_key).toBe(1);
    });
  });

  describe('reading', () => {
    it('filters and orders by index fields', async () => {
      const hotel = newHotel();
      const days = ['2017-01-03', '2017-01-05', '2017-01-04'];
      for (const check_in_date of days) await rates.put(rateOf(hotel, { check_in_date }));
      const daysOf = async (...[where, options]: Parameters<typeof rates.where>) =>
        (await rates.where({ ...where, hotel_id: hotel }, options).toArray()).map((rate) => rate.get('check_in_date'));
      const all = { hotel_id: hotel };
      await expect.poll(() => daysOf(all)).toHaveLength(3);
      expect(await daysOf({ ...all, check_in_date: '2017-01-05' })).toEqual(['2017-01-05']);
      const later = { ...all, room_type: '1 bed', check_in_date: { gt: '2017-01-03' } };
      expect(await daysOf(later, { order: '-check_in_date' })).toEqual(['2017-01-05', '2017-01-04']);
      const among = { ...all, check_in_date: { in: days.slice(0, 2), ne: days[0] ?? '' } };
      expect(await daysOf(among)).toEqual(['2017-01-05']);
      expect(await daysOf(all, { order: 'check_in_date', limit: 2 })).toEqual(days.toSorted().slice(0, 2));
      const byGateway = rates.indexes.byGateway.where({ gateway: `pegasus ${hotel}`, discount_type: { gte: 'a' } });
      const seen = await Array.fromAsync(byGateway, (rate) => rate.get('check_in_date'));
      expect(seen.toSorted()).toEqual(days.toSorted());
      expect(await rates.where({ hotel_id: hotel }).count()).toMatchObject({ count: 3, complete: true });
      expect(await byGateway.count({ limit: 2 })).toMatchObject({ count: 2, complete: false });
    });

    it('returns a default for a missing member', async () => {
      const rate = await rates.put(rateOf(newHotel(), { net_price: 130, none: null }));
      expect([rate.fetch('net_price', 100), rate.fetch('tax', 7), rate.fetch('none', 1)]).toEqual([130, 7, null]);
      expect(rate.cells.meta.fetch('enabled', true)).toBe(true);
    });

    it('numbers, dates and links versions', async () => {
      const rate = await rates.put(rateOf(newHotel(), { net_price: 120 }));
      const first = (await rates.findRow(rate.uuid))?.created_at;
      await rate.update({ net_price: 125 });
      await rate.update({ net_price: 130 });
      const one = await rate.previous();
      const none = await one?.previous();
      expect([rate.ref_key, one?.ref_key, none?.ref_key]).toEqual([2, 1, 0]);
      expect([rate.get('net_price'), one?.get('net_price'), none?.get('net_price')]).toEqual([130, 125, 120]);
      expect(first).toMatch(/^\d{4}-.*\.\d{6}Z$/);
      expect(none?.created_at).toBe(first);
      expect(await none?.previous()).toBeNull();
      expect(await rate.cells.meta.previous()).toBeNull();
    });

    it('reloads one cell or all', async () => {
      const rate = await rates.put(rateOf(newHotel(), { net_price: 1 }));
      const other = await rates.findRow(rate.uuid);
      await other?.update({ net_price: 2 });
      await other?.cells.meta.update({ enabled: true });
      expect(rate.get('net_price')).toBe(1);
      rate.set('net_price', 9);
      await rate.base.reload();
      expect([rate.get('net_price'), rate.ref_key, rate.cells.meta.present]).toEqual([2, 1, false]);
      await rate.reload();
      expect(rate.cells.meta.body).toEqual({ enabled: true });
    });

    it('lists its cells and those present', async () => {
      const rate = await rates.put(rateOf(newHotel(), {}));
      expect([rate.present, rate.cells.base.present, rate.cells.meta.present]).toEqual([true, true, false]);
      expect(Object.keys(rate.cells)).toEqual(['base', 'meta']);
      expect(Object.values(rate.cells).some(({ present }) => present)).toBe(true);
    });

    it('serializes a cell to JSON', async () => {
      const body = rateOf(newHotel(), { net_price: 130 });
      const rate = await rates.put(body);
      await rate.reload();
      const { cell } = await datastore.getLatest({ row_key: rate.uuid, column_name: 'base' });
      expect(JSON.parse(JSON.stringify(rate))).toEqual({
        added_id: cell?.added_id,
        uuid: rate.uuid,
        created_at: cell?.created_at,
        column_name: 'base',
        ref_key: 0,
        body,
      });
      expect(rate.cells.meta.toJSON()).toMatchObject({ added_id: null, created_at: null, ref_key: null, body: null });
    });
  });

  describe('shards and logs', () => {
    it('has all tables before the first write', async () => {
      const sql = "SELECT COUNT(*) FROM information_schema.tables WHERE CONCAT(table_schema, '.', table_name) = ?";
      for await (const { group, tables } of rates.eachPartition())
        for (const table of tables) {
          const [row] = await select(store.client(group), sql, table);
          expect([table, Number(row?.[0])]).toEqual([table, 1]);
        }
    });

    it('lists all shards', async () => {
      expect(await Array.fromAsync(rates.eachShard())).toEqual(Array.from({ length: SHARDS }, (_, shard) => shard));
    });

    it('reads the log of a shard from a cursor', async () => {
      const rate = await rates.put(rateOf(newHotel(), { net_price: 1 }));
      const shard = shardOf(rate.uuid, SHARDS);
      const start = Number(rate.added_id) - 1;
      await rate.update({ net_price: 2 });
      await datastore.put({ row_key: rate.uuid, column_name: 'OTHER', ref_key: 0, body: 1 });
      await rate.cells.meta.update({ enabled: true });
      const seen: unknown[][] = [];
      for (let cursor = start, more = true; more;) {
        const log = await rates.fetchLatestCells({ shard, cursor, limit: 1 });
        seen.push(...log.cells.map(({ uuid, cell, ref_key, body }) => [uuid, cell, ref_key, body]));
        expect(log.cursor).toBeGreaterThanOrEqual(cursor);
        ({ cursor, more } = log);
      }
      expect(seen.filter(([uuid]) => uuid === rate.uuid)).toEqual([
        [rate.uuid, 'base', 0, expect.objectContaining({ net_price: 1 })],
        [rate.uuid, 'base', 1, expect.objectContaining({ net_price: 2 })],
        [rate.uuid, 'meta', 0, { enabled: true }],
      ]);
    });

    it('finds the shard of a value', async () => {
      const { hotel } = await newRate({});
      const shard = await rates.findShard(hotel);
      const table = await rates.primary.findTable(hotel);
      expect(table).toMatch(new RegExp(`_${rates.paddedShard(shard)}\\.rate_primary_[0-9a-f]+$`));
      const counts = await Promise.all(
        store.groups.map(async ({ name }) => {
          const rows = select(store.client(name), `SELECT COUNT(*) FROM ${table} WHERE f0 = ?`, hotel);
          return Number((await rows.catch(() => []))[0]?.[0] ?? 0);
        }),
      );
      expect(counts.toSorted().at(-1)).toBe(1);
    });

    it('names shards, partitions, tables and log ends', async () => {
      const rate = await rates.put(rateOf(newHotel(), {}));
      const shard = shardOf(rate.uuid, SHARDS);
      expect(rates.paddedShard(7)).toBe('0007');
      expect(await rates.maxIdOnShard(shard)).toBeGreaterThanOrEqual(Number(rate.added_id));
      const { cells } = await rates.fetchLatestCells({ shard, cursor: await rates.maxIdOnShard(shard) });
      expect(cells).toEqual([]);
      const partitions = await Array.fromAsync(rates.eachPartition());
      const groups = new Set(store.groups.map(({ name }) => name));
      for (const { group } of partitions) expect(groups).toContain(group);
      const tables = partitions.flatMap((partition) => partition.tables);
      expect(tables).toHaveLength(SHARDS * 3);
      expect(tables).toContain(await rates.findTable(rate.uuid));
      expect(rate.base.uuid).toBe(rate.uuid);
    });
  });
});
