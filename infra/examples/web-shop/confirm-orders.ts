/** A plain process that writes to the buyer of each order, once for each version of it. Any number of them may run. */
import { openDatastore, type MessageOf } from 'schemaless';
import { consume, PermanentFailure, triggerHandler } from 'schemaless/triggers';
import { shop } from './shop.ts';

const store = openDatastore(shop, { url: process.env['SCHEMALESS_API_URL'] ?? 'http://127.0.0.1:4000' });

const confirmOrder = triggerHandler<MessageOf<typeof shop, 'confirm_order'>>(
  'confirm_order',
  async (rowKey, { ref_key, erasure }) => {
    // An order was erased: nobody is written to.
    if (erasure !== undefined) return;
    const { cell: order } = await store.get({ row_key: rowKey, column_name: 'ORDER', ref_key });
    // It was told of too early, by a reader that is behind: the cell comes again.
    if (!order) throw new Error(`order ${rowKey} cannot be read yet`);
    if (order.erased === true) return;
    // Nothing that is tried again would help: it is set aside at once, for somebody to look at.
    if (order.body.items.includes('gunpowder')) throw new PermanentFailure('not for sale');

    const body = { mail: `${order.body.buyer_uuid}@example.org`, order: ref_key, total: order.body.total };
    // A message may come twice. The version of the order is that of its confirmation, so that it is kept once; who sends
    // mail hands over this address, too, as the key by which the mail service knows a repeat.
    await store.put({ row_key: rowKey, column_name: 'CONFIRMATION', ref_key, body });
    console.log(`confirmed ${rowKey}, version ${ref_key}, ${body.total}`);
  },
);

await consume(confirmOrder, { datastore: shop.name });
