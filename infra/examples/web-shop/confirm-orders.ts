/** A plain process that writes to the buyer of each order, once for each version of it. Any number of them may run. */
import { consume, PermanentFailure, triggerHandler } from '@schemaless-store/schemaless/triggers';
import { shop } from './shop.ts';

const confirmOrder = triggerHandler(shop, 'confirm_order', async (rowKey, { ref_key, erasure }, store) => {
  // An event was erased: no mail is sent.
  if (erasure !== undefined) return;
  const { cell: order } = await store.get({ row_key: rowKey, column_name: 'ORDER', ref_key });
  // A reader that is behind does not have it yet: the message comes again.
  if (!order) throw new Error(`order ${rowKey} cannot be read yet`);
  if (order.erased === true) return;
  // No retry would help: the cell is parked at once, for an operator.
  if (order.body.items.includes('gunpowder')) throw new PermanentFailure('not for sale');

  const body = { mail: `${order.body.buyer_uuid}@example.org`, order: ref_key, total: order.body.total };
  // A message may come twice. The confirmation has the order's version, so it is stored once. A program that sends
  // mail also passes this address to the mail service, as the idempotency key.
  await store.put({ row_key: rowKey, column_name: 'CONFIRMATION', ref_key, body });
  console.log(`confirmed ${rowKey}, version ${ref_key}, ${body.total}`);
});

await consume(confirmOrder);
