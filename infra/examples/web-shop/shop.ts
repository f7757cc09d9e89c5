import { defineDatastore } from '@schemaless-store/schemaless';
import { z } from 'zod';

/** The indexes and triggers of the YAML next to it, and the types of bodies. */
export const shop = defineDatastore({
  name: 'shop',
  columns: {
    ORDER: z.object({ buyer_uuid: z.uuid(), total: z.number().positive(), items: z.array(z.string()).min(1) }),
    OUTBOX: z.object({ event: z.literal(['placed', 'changed']), order: z.int() }),
    CONFIRMATION: z.object({ mail: z.email(), order: z.int(), total: z.number() }),
  },
  indexes: { buyer_index: { shardOn: { buyer_uuid: 'UUID' }, fields: { total: 'number', mail: 'string' } } },
  triggers: { confirm_order: { columns: ['OUTBOX'] } },
});
