import { expect, it } from 'vitest';
import { ASSUMPTIONS } from '../../../infra/capacity/assumptions.ts';
import { putOf } from '../../../infra/capacity/database.ts';
import { counted, type Sent } from '../../support/counted-client.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { indexOn } from '../../support/index-on.ts';
import { sharedTrips } from '../../support/open-trips.ts';

const sent: Sent = { statements: 0, commits: 0, roundTrips: 0 };
const { trips, store } = await sharedTrips(4, {
  indexes: [indexOn('city_index', { city: 'string' })],
  wrap: (client) => counted(client, sent),
});
/** One that numbers the cell. The Data API, which bills statements, has none. */
const more = store.client(store.groups[0]?.name ?? '').transactions === undefined ? 0 : 1;
// Connections, and what is known of the topology.
await trips.put(cellOf({ body: { city: 'Lisbon' } }));

it.each([
  ['a cell and its copy', 'NOTES', 0],
  ['a cell, its copy and its entry', 'BASE', 1],
])('a put of the model sends what goes to servers: %s', async (_what, column_name, entriesPerWrite) => {
  Object.assign(sent, { statements: 0, commits: 0, roundTrips: 0 });
  expect(await trips.put(cellOf({ column_name, body: { city: 'Lisbon' } }))).toMatchObject({ outcome: 'stored' });
  const { statements, commits } = sent;
  expect({ statements: statements - more, commits }).toEqual(
    putOf({ bufferCopies: 1 }, { ...ASSUMPTIONS, entriesPerWrite }),
  );
});
