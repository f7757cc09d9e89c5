import { expect, it } from 'vitest';
import { counted, type Sent } from '../../support/counted-client.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { indexOn } from '../../support/index-on.ts';
import { sharedTrips } from '../../support/open-trips.ts';

const sent: Sent = { statements: 0, commits: 0, roundTrips: 0 };
const { store, trips } = await sharedTrips(4, {
  indexes: [indexOn('city_index', { city: 'string' })],
  wrap: (client) => counted(client, sent),
});
/** The statement that numbers the cell, within the transaction of the append. The Data API has no such transaction. */
const canShare = store.client(store.groups[0]?.name ?? '').transactions !== undefined;
await trips.put(cellOf({ body: { city: 'Lisbon' } }));

async function put(column_name: string): Promise<Sent & { readonly created_at: unknown }> {
  Object.assign(sent, { statements: 0, commits: 0, roundTrips: 0 });
  const result = await trips.put(cellOf({ column_name, body: { city: 'Lisbon' } }));
  expect(result.outcome).toBe('stored');
  return { ...sent, created_at: 'created_at' in result };
}

it('a put sends the copy and the append, and no statement for created_at', async () => {
  const statements = canShare ? 3 : 2;
  expect(await put('NOTES')).toEqual({ statements, commits: 2, roundTrips: 2, created_at: false });
});

it('a put of an indexed column also reads the row and writes its entry, so it knows created_at', async () => {
  const { statements, commits, created_at } = await put('BASE');
  expect({ statements, commits, created_at }).toEqual({
    statements: canShare ? 5 : 4,
    commits: 3,
    created_at: canShare,
  });
});
