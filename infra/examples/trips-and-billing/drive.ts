/** `node drive.ts URL`: a driver takes three riders, each billed once; and an operator fixes parked cells. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { openDatastore } from '@schemaless-store/schemaless';
import { apiClient } from '@schemaless-store/schemaless/api';
import { startCardService } from './card-service.ts';
import { STEPS, trips } from './trips.ts';

const url = process.argv[2] ?? 'http://127.0.0.1:4000';
const store = openDatastore(trips, { url });
const api = apiClient({ url, datastore: store.client.name });
const cards = await startCardService(console.log);
const driver_uuid = randomUUID();
const tripOf = (hour: number, fare_cents: number) => ({
  rider_uuid: randomUUID(),
  driver_uuid,
  city: 'Lisbon',
  began_at: `2026-07-01T${hour}:00:00Z`,
  fare_cents,
});
// A put returns once the cell is kept. It throws `unavailable` if that is unknown: a retry is safe.
const putBase = (row_key: string, ref_key: number, body: ReturnType<typeof tripOf>) =>
  store.put({ row_key, column_name: 'BASE', ref_key, body });
const putStatus = (row_key: string, state: keyof typeof STEPS) =>
  store.put({ row_key, column_name: 'STATUS', ref_key: STEPS[state], body: { state } });

/** Asks again until there is an answer. */
async function until<Answer>(ask: () => Promise<Answer | null | undefined>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    await setTimeout(100);
  }
}
async function billed(row_key: string): Promise<void> {
  const { body } = await until(async () => (await store.getLatest({ row_key, column_name: 'BILL' })).cell);
  console.log(`billed: ${body.receipt}, ${body.cents} cents`);
}

console.log('trip 1: step by step, each told twice');
const first = randomUUID();
const trip = tripOf(10, 1250);
for (let times = 1; times <= 2; times += 1) {
  await putBase(first, 1, trip);
  for (const state of ['accepted', 'on_trip', 'completed'] as const) await putStatus(first, state);
}
await billed(first);

console.log('trip 2: from a tunnel, the last step first, and the trip itself last');
const second = randomUUID();
for (const state of ['completed', 'on_trip', 'accepted'] as const) await putStatus(second, state);
await putBase(second, 1, tripOf(11, 900));
await billed(second);

console.log('trip 3: by an old program that writes its fare as text');
const third = randomUUID();
const right = tripOf(12, 2100);
// Past the declaration, which would refuse it.
const wrong = { row_key: third, column_name: 'BASE', ref_key: 1, body: { ...right, fare_cents: '21.00' } };
await store.client.put(wrong);
await putStatus(third, 'completed');
const parked = await until(async () => {
  const { cells } = await api.listParkedCells({ trigger: 'bill_rider' });
  return cells.find(({ row_key }) => row_key === third);
});
console.log(`parked: ${parked.column_name} ${parked.ref_key}, ${parked.last_error}`);

console.log('operator: corrects the trip, and has the cell sent again');
await putBase(third, 2, right);
const { shard, added_id } = parked;
await api.retryParkedCells({ trigger: 'bill_rider', cells: [{ shard, added_id }] });
await billed(third);

// One query of one shard. An entry usually comes with its cell, and a moment later if a server was busy.
const where = { driver_uuid, city: 'Lisbon', began_at: { gte: '2026-07-01T11:00:00Z' }, cents: { gt: 0 } };
const paid = await until(async () => {
  const { entries } = await store.query('driver_index', { where, order: '-began_at', fields: ['began_at', 'cents'] });
  return entries.length === 2 ? entries : null;
});
for (const { fields } of paid) console.log(`driver: ${fields.began_at}, ${fields.cents} cents`);
cards.close();
cards.closeAllConnections();
