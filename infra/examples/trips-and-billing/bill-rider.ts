/** Bills the rider of a trip once it is completed. Called for each STATUS cell, at least once. */
import type { MessageOf } from 'schemaless';
import { PermanentFailure, triggerHandler } from 'schemaless/triggers';
import { charge } from './cards.ts';
import { trips } from './trips.ts';

export const handler = triggerHandler<MessageOf<typeof trips, 'bill_rider'>>(
  'bill_rider',
  async (row_key, _message, schemaless, { signal }) => {
    // The trip as it is now, not the cell of the message: cells may come late, twice, and not in the order of steps.
    const latest = (column_name: string) => schemaless.latest({ row_key, column_name });
    const [bill, status, base] = await Promise.all([latest('BILL'), latest('STATUS'), latest('BASE')]);
    // Whatever is thrown here is tried again later.
    if (bill.stale || status.stale || base.stale) throw new Error('the writer is away: something may be missing');
    if (bill.cell) return;
    // The last step has a cell of its own, which calls this again.
    if (Object(status.cell?.body).state !== 'completed') return;
    if (!base.cell) throw new Error('the trip is completed, but not there yet');
    const trip = trips.columns.BASE.safeParse(base.cell.body);
    // No attempt would help: the cell is parked at once, for somebody to look at.
    if (!trip.success) {
      const wrong = trip.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
      throw new PermanentFailure(`BASE ${base.cell.ref_key}: ${wrong.join(', ')}`);
    }

    // Whoever is stopped between the next two lines does both again: the card service knows the key, the datastore the cell.
    const { rider_uuid, fare_cents } = trip.data;
    const charged = await charge({ key: row_key, rider_uuid, cents: fare_cents }, signal);
    const { outcome } = await schemaless.put({ row_key, column_name: 'BILL', ref_key: 0, body: { ...charged } });
    if (outcome === 'conflict') throw new PermanentFailure(`BILL says otherwise than the receipt ${charged.receipt}`);
  },
);
