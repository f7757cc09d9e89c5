import { defineDatastore } from 'schemaless';
import { z } from 'zod';

/** What the YAML beside it says of indexes and triggers, and what bodies look like. */
export const shop = defineDatastore({
  name: 'shop',
  columns: {
    ORDER: z.object({ buyer_uuid: z.uuid(), total: z.number().positive(), items: z.array(z.string()).min(1) }),
    CONFIRMATION: z.object({ mail: z.email(), order: z.int(), total: z.number() }),
  },
  indexes: { buyer_index: { shardOn: { buyer_uuid: 'UUID' }, fields: { total: 'number', mail: 'string' } } },
  triggers: { confirm_order: { columns: ['ORDER'] } },
});
