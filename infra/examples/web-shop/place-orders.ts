/** `node place-orders.ts URL`: a buyer orders, thinks better of one order, and looks at all of them. */
import { randomUUID } from 'node:crypto';
import { openDatastore } from '@schemaless-store/schemaless';
import { shop } from './shop.ts';

const store = openDatastore(shop, { url: process.argv[2] ?? 'http://127.0.0.1:4000' });
const buyer = randomUUID();
const orders = [randomUUID(), randomUUID(), randomUUID()];

for (const [at, row_key] of orders.entries()) {
  const body = { buyer_uuid: buyer, total: 10 * (at + 1), items: [`book ${at}`] };
  await store.put({ row_key, column_name: 'ORDER', ref_key: 1, body });
}
// A newer version; the first one stays, and can be asked for.
const [row_key = ''] = orders;
const body = { buyer_uuid: buyer, total: 35, items: ['book 0', 'a map'] };
await store.put({ row_key, column_name: 'ORDER', ref_key: 2, body });

const { entries } = await store.query('buyer_index', {
  where: { buyer_uuid: buyer, total: { gte: 20 } },
  fields: ['total'],
  columns: ['ORDER'],
});
console.log(JSON.stringify({ buyer, orders, totals: entries.map(({ fields }) => fields.total).sort() }));
