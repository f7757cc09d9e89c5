import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { counted, type Sent } from '../../support/counted-client.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';

/** What a put costs that says when its cell was stored. Alone, so that it shares nothing with others. */
const sent: Sent = { statements: 0, commits: 0, roundTrips: 0 };
let store: RealStore;
let trips: Datastore;

beforeAll(async () => {
  store = await openRealStore({
    datastores: { trips: 4 },
    indexes: {
      trips: [{ name: 'city_index', fields: [{ field: 'city', type: 'string', column_key: 'BASE' }], keys: [] }],
    },
    wrap: (client) => counted(client, sent),
  });
  trips = await store.deployment.datastore(store.nameOf('trips'));
  // Connections, and what is known of the topology.
  await trips.put(cellOf({ body: { city: 'Lisbon' } }));
});

afterAll(() => store.close());

async function costOf(work: () => Promise<unknown>): Promise<Sent> {
  Object.assign(sent, { statements: 0, commits: 0, roundTrips: 0 });
  await work();
  return { ...sent };
}

it('a put without an index costs one statement more when it says so, and no round trip where one can share it', async () => {
  const plain = await costOf(() => trips.put(cellOf({ column_name: 'NOTES' })));
  // The copy, and the append.
  expect(plain).toEqual({ statements: 2, commits: 2, roundTrips: 2 });
  let created_at: unknown;
  const timed = await costOf(async () => {
    ({ created_at } = {
      created_at: undefined,
      ...(await trips.put(cellOf({ column_name: 'NOTES' }), { with: 'created_at' })),
    });
  });
  expect(created_at).toEqual(expect.any(String));
  const canShare = store.client(store.groups[0]?.name ?? '').transactions !== undefined;
  expect(timed).toEqual({ statements: 3, commits: 2, roundTrips: canShare ? 2 : 3 });
});

it('a put of a column that is indexed says so for nothing, where rows are read behind the append', async () => {
  const canShare = store.client(store.groups[0]?.name ?? '').transactions !== undefined;
  const put = (options = {}) => trips.put(cellOf({ body: { city: 'Lisbon' } }), options);
  const plain = await costOf(put);
  const timed = await costOf(() => put({ with: 'created_at' }));
  expect(timed.statements - plain.statements).toBe(canShare ? 0 : 1);
  expect((await put()).outcome).toBe('stored');
  if (canShare) expect(await put()).toHaveProperty('created_at');
});

it('a cell whose time cannot be read is stored all the same', async () => {
  const failing = await openRealStore({
    datastores: { trips: 4 },
    wrap: ({ transactions: _none, ...client }) => ({
      ...client,
      select: () => Promise.reject(new SqlError('unclear', 'test')),
    }),
  });
  const datastore = await failing.deployment.datastore(failing.nameOf('trips'));
  const result = await datastore.put(cellOf(), { with: 'created_at' });
  expect(result).toEqual({ outcome: 'stored', shard: expect.any(Number), added_id: 1 });
  await failing.close();
});
