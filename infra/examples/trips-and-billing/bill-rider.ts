/** Bills the rider of a trip once it is completed. Called for each STATUS cell, at least once. */
import { PermanentFailure, triggerHandler } from '@schemaless-store/schemaless/triggers';
import { charge } from './cards.ts';
import { trips } from './trips.ts';

export const handler = triggerHandler(trips, 'bill_rider', async (row_key, _message, store, { signal }) => {
  // The trip as it is now, not the cell of the message: cells may come late, twice, and not in the order of steps.
  const [bill, status, base] = await Promise.all([
    store.getLatest({ row_key, column_name: 'BILL' }),
    store.getLatest({ row_key, column_name: 'STATUS' }),
    store.getLatest({ row_key, column_name: 'BASE' }),
  ]);
  // An error thrown here causes a retry later.
  if (bill.stale || status.stale || base.stale) throw new Error('the writer is unavailable: cells may be missing');
  if (bill.cell) return;
  // The last step's own cell calls this again.
  if (status.cell?.body.state !== 'completed') return;
  if (!base.cell) throw new Error('the trip is completed, but not there yet');
  const trip = trips.columns.BASE.safeParse(base.cell.body);
  // No retry would help: the cell is parked at once, for an operator.
  if (!trip.success) {
    const wrong = trip.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new PermanentFailure(`BASE ${base.cell.ref_key}: ${wrong.join(', ')}`);
  }

  // A stop between the next two lines repeats both: the card service knows the key, the datastore the cell.
  const { rider_uuid, fare_cents } = trip.data;
  const charged = await charge({ key: row_key, rider_uuid, cents: fare_cents }, signal);
  await store.put({ row_key, column_name: 'BILL', ref_key: 0, body: charged });
});
