import { expect, it } from 'vitest';
import { counted, type Sent } from '../../support/counted-client.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import { openTrips, sharedTrips } from '../../support/open-trips.ts';
import { indexOn } from '../../support/index-on.ts';

/** What a put costs that says when its cell was stored. Alone, so that it shares nothing with others. */
const sent: Sent = { statements: 0, commits: 0, roundTrips: 0 };
const { store, trips } = await sharedTrips(4, {
  indexes: [indexOn('city_index', { city: 'string' })],
  wrap: (client) => counted(client, sent),
});
const canShare = store.client(store.groups[0]?.name ?? '').transactions !== undefined;
// Connections, and what is known of the topology.
await trips.put(cellOf({ body: { city: 'Lisbon' } }));

async function costOf(work: () => Promise<unknown>): Promise<Sent> {
  Object.assign(sent, { statements: 0, commits: 0, roundTrips: 0 });
  await work();
  return { ...sent };
}

it('a put without an index costs one statement more when it says so, and no round trip where one can share it', async () => {
  const plain = await costOf(() => trips.put(cellOf({ column_name: 'NOTES' })));
  // The copy, and the append: of two statements in a transaction where there are transactions.
  const appends = canShare ? 2 : 1;
  expect(plain).toEqual({ statements: 1 + appends, commits: 2, roundTrips: 2 });
  let created_at: unknown;
  const timed = await costOf(async () => {
    ({ created_at } = {
      created_at: undefined,
      ...(await trips.put(cellOf({ column_name: 'NOTES' }), { with: 'created_at' })),
    });
  });
  expect(created_at).toEqual(expect.any(String));
  expect(timed).toEqual({ statements: 2 + appends, commits: 2, roundTrips: canShare ? 2 : 3 });
});

it('a put of a column that is indexed says so for nothing, where rows are read behind the append', async () => {
  const put = (options = {}) => trips.put(cellOf({ body: { city: 'Lisbon' } }), options);
  const plain = await costOf(put);
  const timed = await costOf(() => put({ with: 'created_at' }));
  expect(timed.statements - plain.statements).toBe(canShare ? 0 : 1);
  expect((await put()).outcome).toBe('stored');
  if (canShare) expect(await put()).toHaveProperty('created_at');
});

it('a cell whose time cannot be read is stored all the same', async () => {
  await using failing = await openTrips(4, {
    wrap: ({ transactions: _none, ...client }) => ({
      ...client,
      select: () => Promise.reject(new SqlError('unclear', 'test')),
    }),
  });
  const result = await failing.trips.put(cellOf(), { with: 'created_at' });
  expect(result).toEqual({ outcome: 'stored', shard: expect.any(Number), added_id: 1 });
});
