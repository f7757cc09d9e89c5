import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';

/** A driver's trips, with a field of a second column. */
export const DRIVER_INDEX: IndexDefinition = {
  name: 'driver_partner_index',
  fields: [
    { field: 'driver_partner_uuid', type: 'UUID', column_key: 'BASE' },
    { field: 'city_uuid', type: 'UUID', column_key: 'BASE' },
    { field: 'trip_created_at', type: 'datetime', column_key: 'BASE' },
    { field: 'fare.total', type: 'number', column_key: 'BASE' },
    { field: 'is_completed', type: 'boolean', column_key: 'STATUS' },
  ],
  keys: [['city_uuid', 'trip_created_at']],
};

/** Trips by zone: an integer shard field, in the other column. */
export const ZONE_INDEX: IndexDefinition = {
  name: 'zone_index',
  fields: [
    { field: 'zone', type: 'integer', column_key: 'STATUS' },
    { field: 'is_completed', type: 'boolean', column_key: 'STATUS' },
    { field: 'trip_created_at', type: 'datetime', column_key: 'BASE' },
  ],
  keys: [],
};
