import { schemalessClient } from '@schemaless-store/schemaless';
import { defineModel } from '@schemaless-store/schemaless/models';
import { z } from 'zod';

/** Rates of hotels: the price of a night in a room, by gateway, and whether it is for sale. */
export function openRates(url: string) {
  return defineModel({
    name: 'rate',
    datastore: schemalessClient({ url, datastore: 'rates' }),
    cells: {
      base: z.object({
        hotel_id: z.int(),
        room_type: z.string().min(1),
        check_in_date: z.iso.date(),
        gateway: z.string().min(1),
        discount_percent: z.int().min(0).max(100),
        net_cents: z.int().positive(),
      }),
      // Changes for other reasons, and by other people, than the price: it has its own versions.
      meta: z.object({ for_sale: z.boolean() }),
    },
    // There is one rate for each tuple of these, whichever caller puts it.
    primary: {
      index: 'rate_primary',
      shardOn: { hotel_id: 'integer' },
      fields: { room_type: 'string', check_in_date: 'string' },
    },
    indexes: {
      byGateway: {
        index: 'rate_by_gateway',
        shardOn: { gateway: 'string' },
        fields: { hotel_id: 'integer', discount_percent: 'integer' },
      },
    },
  });
}
