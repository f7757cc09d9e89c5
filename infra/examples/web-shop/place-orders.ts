/**
 * `node place-orders.ts URL [BUYER]`: a buyer orders, thinks better of one order, and looks at all of them. Killed at any
 * moment, it is run again with the same buyer: each order is stored once, always with its event.
 */
import { createHash, randomUUID } from 'node:crypto';
import { openDatastore } from '@schemaless-store/schemaless';
import { shop } from './shop.ts';

const [url = 'http://127.0.0.1:4000', buyer = randomUUID()] = process.argv.slice(2);
const store = openDatastore(shop, { url });
// The same for each run of a buyer: a repeated transaction is stored once.
const orders = [0, 1, 2].map((at) => {
  const digits = createHash('sha256').update(`${buyer} ${at}`).digest('hex');
  return [8, 12, 16, 20, 32].map((end, part, ends) => digits.slice(ends[part - 1] ?? 0, end)).join('-');
});

for (const [at, row_key] of orders.entries())
  await store
    .transaction(row_key)
    .put('ORDER', 1, { buyer_uuid: buyer, total: 10 * (at + 1), items: [`book ${at}`] })
    .put('OUTBOX', 1, { event: 'placed', order: 1 })
    .commit();
// A newer version, unless another program changed the order since; the first one stays.
const [row_key = ''] = orders;
await store
  .transaction(row_key)
  .put('ORDER', 2, { buyer_uuid: buyer, total: 35, items: ['book 0', 'a map'] })
  .put('OUTBOX', 2, { event: 'changed', order: 2 })
  .ifLatest('ORDER', 1)
  .commit();

const { entries } = await store.query('buyer_index', {
  where: { buyer_uuid: buyer, total: { gte: 20 } },
  fields: ['total'],
  columns: ['ORDER'],
});
console.log(JSON.stringify({ buyer, orders, totals: entries.map(({ fields }) => fields.total).sort() }));
