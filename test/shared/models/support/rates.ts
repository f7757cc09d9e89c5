import { schemalessClient } from '../../../../shared/client/client.ts';
import type { IndexDefinition } from '../../../../shared/definitions/definitions.ts';
import type { ModelDatastore } from '../../../../shared/models/declaration.ts';
import { defineModel } from '../../../../shared/models/model.ts';
import { fakeDefinitions } from '../../../functions/support/fake-definitions.ts';
import { fakeErasures } from '../../../functions/support/fake-erasures.ts';
import { fakeRetention } from '../../../functions/support/fake-retention.ts';
import { fakeSubjects, RECEIPT_KEY } from '../../../functions/support/fake-subjects.ts';
import { fakeMoves } from '../../../functions/support/fake-moves.ts';
import { fakeTriggers } from '../../../functions/support/fake-triggers.ts';
import { gateway, gatewayFetch } from '../../../functions/support/gateway.ts';
import { openRealStore, type RealStore, type RealStoreOptions } from '../../../support/real-store.ts';

export const SHARDS = 8;

/** As the YAML of a datastore says them: rates by hotel and by gateway, and hotels, which share the datastore. */
const INDEXES: readonly IndexDefinition[] = [
  {
    name: 'rate_primary',
    fields: [
      { field: 'hotel_id', type: 'integer', column_key: 'base' },
      { field: 'room_type', type: 'string', column_key: 'base' },
      { field: 'check_in_date', type: 'string', column_key: 'base' },
    ],
    keys: [],
  },
  {
    name: 'rate_by_gateway',
    fields: [
      { field: 'gateway', type: 'string', column_key: 'base' },
      { field: 'discount_type', type: 'string', column_key: 'base' },
    ],
    keys: [],
  },
  {
    name: 'hotel_primary',
    fields: [{ field: 'hotel_id', type: 'integer', column_key: 'hotel.base' }],
    keys: [],
  },
];

/** Hotel rates: found by hotel, room and day, or by who brought them. */
export function ratesIn(datastore: ModelDatastore) {
  return defineModel({
    name: 'rate',
    datastore,
    cells: { meta: null },
    primary: {
      index: 'rate_primary',
      shardOn: { hotel_id: 'integer' },
      fields: { room_type: 'string', check_in_date: 'string' },
    },
    indexes: {
      byGateway: { index: 'rate_by_gateway', shardOn: { gateway: 'string' }, fields: { discount_type: 'string' } },
    },
  });
}

/** Hotels, beside the rates in one datastore. */
export function hotelsIn(datastore: ModelDatastore) {
  return defineModel({
    name: 'hotel',
    datastore,
    prefix: 'hotel.',
    primary: { index: 'hotel_primary', shardOn: { hotel_id: 'integer' } },
  });
}

export interface RatesStore extends RealStore {
  /** In process. */
  readonly datastore: ModelDatastore;
  /** Over HTTP. */
  readonly overHttp: ModelDatastore;
}

/** Real servers with the datastore of the models, asked both ways. */
export async function openRates(options: Omit<RealStoreOptions, 'datastores' | 'indexes'> = {}): Promise<RatesStore> {
  const store = await openRealStore({ ...options, datastores: { rates: SHARDS }, indexes: { rates: INDEXES } });
  const name = store.nameOf('rates');
  return {
    ...store,
    datastore: await store.deployment.datastore(name),
    overHttp: schemalessClient({
      url: 'http://store.test/',
      datastore: name,
      fetch: gatewayFetch(
        gateway({
          ...store.deployment,
          ...fakeDefinitions(),
          triggers: async () => fakeTriggers(),
          moves: async () => fakeMoves(),
          erasures: async () => fakeErasures(),
          retention: async () => fakeRetention(),
          subjects: async () => fakeSubjects(),
          receiptKey: async () => RECEIPT_KEY,
        }),
      ),
    }),
  };
}

let hotels = Math.floor(Math.random() * 2 ** 40);

/** A hotel of which no other test knows. */
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
