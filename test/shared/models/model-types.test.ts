import { expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { AnyBody, ModelDatastore, ModelDeclaration } from '../../../shared/models/declaration.ts';
import { defineModel } from '../../../shared/models/model.ts';
import { unchecked } from '../../../shared/models/judged-by.ts';
import { confirming } from '../../support/store-of.ts';
import { referenceStore } from '../../support/reference-store.ts';
import { hotelsIn, rateOf, ratesIn } from './support/rates.ts';

/** Checks the types of a model: a misspelt field does not compile. */
const primary = { index: 'rate_primary', shardOn: { hotel_id: 'integer' }, fields: { room_type: 'string' } } as const;
const indexes = { rate_primary: ['hotel_id', 'room_type'], rate_by_gateway: ['gateway'], hotel_primary: ['hotel_id'] };
const datastore: ModelDatastore = {
  ...confirming(
    referenceStore(
      'rates',
      4,
      Object.entries(indexes).map(([name, fields]) => ({
        name,
        fields: fields.map((field) => ({
          field,
          type: field === 'hotel_id' ? 'integer' : 'string',
          column_key: 'base',
        })),
        keys: [],
      })),
    ),
  ),
  getIndex: () => Promise.reject(new Error('not in memory')),
};

interface Rate {
  readonly hotel_id: number;
  readonly room_type: string;
  readonly net_price?: number;
}

const typed = () =>
  defineModel({
    name: 'rate',
    datastore,
    primary,
    cells: { base: unchecked<Rate>(), meta: unchecked<{ on: boolean }>() },
  });

it('index fields have the types of their declaration', async () => {
  const rates = ratesIn(datastore);
  expectTypeOf(rates.rowKey).parameter(0).toEqualTypeOf<{
    readonly hotel_id: number | bigint;
    readonly room_type: string;
    readonly check_in_date: string;
  }>();
  expectTypeOf(rates.findShard).parameter(0).toEqualTypeOf<number | bigint>();
  expectTypeOf(rates.indexes.byGateway.findShard).parameter(0).toEqualTypeOf<string>();
  expectTypeOf(hotelsIn(datastore).indexes).toEqualTypeOf<{}>();
  const rate = await rates.put(rateOf(1, {}));
  expect(await rates.where({ hotel_id: { eq: 1 } }).first()).toMatchObject({ uuid: rate.uuid });
  expectTypeOf(rate.get('hotel_id')).toEqualTypeOf<number | bigint | undefined>();
  expectTypeOf(rate.cells.meta.body).toEqualTypeOf<AnyBody>();
  // @ts-expect-error no such index
  expect(rates.indexes.secondary).toBeUndefined();
  // @ts-expect-error no such cell
  expect(rate.cells.mata).toBeUndefined();
});

it('a misspelt field of an index does not compile', async () => {
  const rates = ratesIn(datastore);
  // @ts-expect-error hotel_id
  expect(() => rates.rowKey({ hotelid: 1, room_type: 'a', check_in_date: 'b' })).toThrow('hotel_id');
  // @ts-expect-error room_type
  await expect(rates.where({ hotel_id: 1, roomtype: 'a' }).first()).rejects.toThrow('did you mean room_type?');
  // @ts-expect-error the shard field is wanted
  expect(() => rates.where({ room_type: 'a' })).not.toThrow();
  // @ts-expect-error gateway, that of the other index
  expect(() => rates.indexes.byGateway.where({ hotel_id: 1 })).not.toThrow();
  // @ts-expect-error check_in
  expect(() => rates.where({ hotel_id: 1 }, { order: '-check_in' })).not.toThrow();
  // @ts-expect-error gateway and discount_type are wanted
  await expect(rates.put({ hotel_id: 1, room_type: 'a', check_in_date: 'b' })).rejects.toThrow('gateway');
});

it('bodies have the types of their validators', async () => {
  const rate = await typed().put({ hotel_id: 1, room_type: 'a', net_price: 2 });
  expectTypeOf(rate.body).toEqualTypeOf<Rate>();
  expectTypeOf(rate.get('net_price')).toEqualTypeOf<number | undefined>();
  expectTypeOf(rate.cells.meta.get('on')).toEqualTypeOf<boolean | undefined>();
  // @ts-expect-error net_price
  expect(rate.get('netprice')).toBeUndefined();
  // @ts-expect-error a number
  expect(rate.set('net_price', '2')).toBe(rate);
  // @ts-expect-error net_price
  await rate.update({ netprice: 2 });
  // @ts-expect-error a boolean
  rate.cells.meta.set('on', 1);
});

it('a validator without an index field does not compile', () => {
  const cells = { base: unchecked<{ readonly hotel_id: number }>() };
  // @ts-expect-error room_type
  expect(defineModel({ name: 'rate', datastore, primary, cells }).name).toBe('rate');
});

it('a declaration with a misspelt member, or without one shard field, does not compile', () => {
  const [name, prefix] = ['rate', 'rate.'];
  // @ts-expect-error prefix
  expect(defineModel({ name, datastore, primary, prefx: prefix }).name).toBe(name);
  // @ts-expect-error cells
  expect(defineModel({ name, datastore, primary, cell: { meta: null } }).name).toBe(name);
  // @ts-expect-error fields
  expect(defineModel({ name, datastore, primary: { ...primary, field: { a: 'string' } } }).name).toBe(name);
  const byGateway = { index: 'rate_by_gateway', shardOn: { gateway: 'string' } } as const;
  // @ts-expect-error mutable
  defineModel({ name, datastore, primary, indexes: { byGateway: { ...byGateway, mutabel: true } } });
  const two = { a: 'string', b: 'string' } as const;
  // @ts-expect-error one shard field
  expect(() => defineModel({ name, datastore, primary: { ...primary, shardOn: two } })).toThrow('shardOn');
  const models = { name, datastore, primary, prefix, cells: { meta: null }, indexes: { byGateway } };
  expect(defineModel(models as ModelDeclaration).name).toBe(name);
});

it('bodies that a validator refuses are not written, and its output is', async () => {
  const base = z.object({
    hotel_id: z.number(),
    room_type: z.string().trim(),
    net_price: z.number().min(0).default(5),
  });
  const rates = defineModel({ name: 'checked', datastore, primary, cells: { base } });
  const rate = await rates.put({ hotel_id: 1, room_type: 'a', net_price: 1 });
  expectTypeOf(rate.get('net_price')).toEqualTypeOf<number | undefined>();
  // Fields that the validator adds may be omitted.
  expect((await rates.put({ hotel_id: 2, room_type: 'a' })).get('net_price')).toBe(5);
  await expect(rate.update({ net_price: -1 })).rejects.toMatchObject({
    code: 'invalid_body',
    retry: 'never',
    field: 'body.net_price',
  });
  expect((await rate.reload()).ref_key).toBe(0);
  await rate.update({ net_price: undefined });
  expect((await rate.reload()).get('net_price')).toBe(5);
});
