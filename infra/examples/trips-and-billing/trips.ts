import { defineDatastore } from '@schemaless-store/schemaless';
import { z } from 'zod';

/** The indexes and triggers of the YAML next to it, and the types of bodies. */
export const trips = defineDatastore({
  name: 'trips',
  columns: {
    /** The trip; a higher ref key corrects it. */
    BASE: z.object({
      rider_uuid: z.uuid(),
      driver_uuid: z.uuid(),
      city: z.string(),
      began_at: z.iso.datetime(),
      fare_cents: z.int().positive(),
    }),
    /** The ref key is the step of the trip, so that the latest is the furthest, in whatever order they come. */
    STATUS: z.object({ state: z.enum(['accepted', 'on_trip', 'completed']) }),
    /** The proof that the rider was billed: ref key 0, the only one. */
    BILL: z.object({ receipt: z.string(), cents: z.int() }),
  },
  indexes: {
    driver_index: {
      shardOn: { driver_uuid: 'UUID' },
      fields: { city: 'string', began_at: 'datetime', cents: 'integer' },
    },
  },
  triggers: { bill_rider: { columns: ['STATUS'] } },
});

/** The ref keys of STATUS. */
export const STEPS = { accepted: 0, on_trip: 1, completed: 2 } as const;
