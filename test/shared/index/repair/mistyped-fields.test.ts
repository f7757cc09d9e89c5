import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../shared/cell.ts';
import type { IndexDefinition } from '../../../../shared/definitions/definitions.ts';
import { readIndexNow } from '../../../../shared/topology/index-now.ts';
import { until } from '../../../support/until.ts';
import { sharedIndexed } from './support/indexed-store.ts';
import { indexOn } from '../../../support/index-on.ts';

const ORDERS = indexOn('orders', { buyer: 'UUID', items: 'integer', total: 'number' });
const CHANGED: IndexDefinition = {
  ...ORDERS,
  fields: [...ORDERS.fields, { field: 'note', type: 'string', column_key: 'BASE' }],
};

const indexed = await sharedIndexed(4, (client) => client, [ORDERS]);
const trips = await indexed.store.deployment.datastore(indexed.datastore);
const known = () => readIndexNow(indexed.store.topologyTable, { datastore: indexed.datastore, name: 'orders' });

const order = (more: { readonly [field: string]: Json }, ref_key = 1, row_key: string = randomUUID()) => ({
  row_key,
  ref_key,
  body: { buyer: randomUUID(), items: 1, total: 1, ...more },
});
const mistyped = async () =>
  (await trips.getIndex('orders')).mistyped.map(({ field, rows, row_key }) => ({ field, rows, row_key }));

describe('fields of another type than the index says', () => {
  it('are counted, each with a row to look at, by the repair that finds them, from run to run', async () => {
    const first = indexed.repair();
    const [text, noBuyer] = [order({ items: '1' }), order({ buyer: 7 })];
    await indexed.write([
      text,
      noBuyer,
      order({}),
      order({ items: null }),
      { row_key: randomUUID(), body: { buyer: randomUUID() } },
    ]);
    const itemsOf = async () =>
      (await trips.query({ index: 'orders', where: { buyer: text.body.buyer } })).entries.map(
        ({ fields }) => fields['items'],
      );
    await until('it has its entry', async () => (await itemsOf()).length === 1);
    expect(await itemsOf()).toEqual([null]);
    const found = [
      { field: 'buyer', rows: 1, row_key: noBuyer.row_key },
      { field: 'items', rows: 1, row_key: text.row_key },
    ];
    await until('both are counted', async () => (await mistyped()).length === 2);
    expect(await mistyped()).toEqual(found);
    const [{ at } = { at: '' }] = (await trips.getIndex('orders')).mistyped;
    expect(new Date(at).toISOString()).toBe(at);
    await first.stop();

    const second = indexed.repair();
    await indexed.write([order({}, 2, text.row_key)]);
    const more = Array.from({ length: 20 }, () => order({ items: 1.5 }));
    await indexed.write(more);
    await until(
      'all are counted',
      async () => ((await mistyped()).find(({ field }) => field === 'items')?.rows ?? 0) >= 21,
    );
    await second.stop();
    const [, items] = await mistyped();
    expect(items?.rows).toBe(21);
    expect(more.map(({ row_key }) => row_key)).toContain(items?.row_key);
  });

  it('are counted by the build of a changed definition, and forgotten with the old one', async () => {
    await indexed.write([order({ note: 5 })]);
    await indexed.deploy([CHANGED]);
    const run = indexed.repair({ settings: { retiredForMs: 1000 } });
    await until(
      'the new one is live',
      async () =>
        (await trips.getIndex('orders')).state === 'live' && (await trips.getIndex('orders')).fields.length === 4,
    );
    await until('its own are counted', async () => (await mistyped()).reduce((sum, { rows }) => sum + rows, 0) >= 22);
    expect((await mistyped()).map(({ field, rows }) => [field, rows])).toEqual([
      ['buyer', 1],
      ['items', 20],
      // The repair may meet the row after the build did, and counts it then.
      ['note', expect.toBeOneOf([1, 2])],
    ]);
    await until('the old one is forgotten', async () => (await known()).versions.length === 1);
    await run.stop();
    const { mistyped: kept, versions } = await known();
    expect(new Set(kept.map(({ hash }) => hash))).toEqual(new Set(versions.map(({ hash }) => hash)));
  });
});
