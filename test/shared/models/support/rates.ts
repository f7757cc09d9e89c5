import { schemalessClient } from '../../../../shared/client/client.ts';
import type { IndexDefinition, IndexField } from '../../../../shared/definitions/definitions.ts';
import type { ModelDatastore } from '../../../../shared/models/declaration.ts';
import { defineModel } from '../../../../shared/models/model.ts';
import { fakeDeployment } from '../../../functions/support/fake-deployment.ts';
import { gateway, gatewayFetch } from '../../../functions/support/gateway.ts';
import { openRealStore, type RealStoreOptions } from '../../../support/real-store.ts';

export const SHARDS = 8;

const indexOf = (name: string, column_key: string, fields: Readonly<Record<string, IndexField['type']>>) => ({
  name,
  fields: Object.entries(fields).map(([field, type]) => ({ field, type, column_key })),
  keys: [],
});
const PRIMARY = { hotel_id: 'integer', room_type: 'string', check_in_date: 'string' } as const;

const INDEXES: readonly IndexDefinition[] = [
  indexOf('rate_primary', 'base', PRIMARY),
  indexOf('rate_by_gateway', 'base', { gateway: 'string', discount_type: 'string' }),
  indexOf('hotel_primary', 'hotel.base', { hotel_id: 'integer' }),
];

export const RATES = {
  primary: {
    index: 'rate_primary',
    shardOn: { hotel_id: 'integer' },
    fields: { room_type: 'string', check_in_date: 'string' },
  },
  indexes: {
    byGateway: { index: 'rate_by_gateway', shardOn: { gateway: 'string' }, fields: { discount_type: 'string' } },
  },
} as const;

export function ratesIn(datastore: ModelDatastore) {
  return defineModel({ name: 'rate', datastore, cells: { meta: null }, ...RATES });
}

export function hotelsIn(datastore: ModelDatastore) {
  return defineModel({
    name: 'hotel',
    datastore,
    prefix: 'hotel.',
    primary: { index: 'hotel_primary', shardOn: { hotel_id: 'integer' } },
  });
}

/** Real servers with the datastore of the models, over HTTP. */
export async function openRates(options: Omit<RealStoreOptions, 'datastores' | 'indexes'> = {}) {
  const store = await openRealStore({ ...options, datastores: { rates: SHARDS }, indexes: { rates: INDEXES } });
  return {
    ...store,
    datastore: schemalessClient({
      url: 'http://store.test/',
      datastore: store.nameOf('rates'),
      fetch: gatewayFetch(gateway({ ...fakeDeployment(), ...store.deployment })),
    }),
  };
}

let hotels = Math.floor(Math.random() * 2 ** 40);

export function newHotel(): number {
  hotels += 1;
  return hotels;
}

/** A rate with all index fields; tests name only what they are about. */
export function rateOf<Body extends object>(hotel_id: number, body: Body) {
  return {
    hotel_id,
    room_type: '1 bed',
    check_in_date: '2017-01-03',
    gateway: `pegasus ${hotel_id}`,
    discount_type: 'geo',
    ...body,
  };
}
