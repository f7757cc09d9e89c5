import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { declineReason } from '../../../functions/examples/billing/simulated-cards.ts';
import type { NewCell } from '../../../shared/cell.ts';
import type { DemoStore } from '../../support/trips/demo-store.ts';
import { persist } from '../../support/persist.ts';

/** Of the card service, unless it was told otherwise. */
const DECLINE_RATE = 0.05;
/** Between trips, so that the billing of one is not measured with the next. */
const PAUSE_MS = 100;

/**
 * Writes trips one after another, to see how soon the trigger's function starts for each.
 *
 * @param sampled told of each trip as it is answered
 */
export async function writeCalmTrips(
  store: DemoStore,
  {
    samples,
    signal,
    sampled,
  }: { readonly samples: number; readonly signal: AbortSignal; readonly sampled: (trip: NewCell) => void },
): Promise<void> {
  for (let sample = 0; sample < samples; sample += 1) {
    const trip = calmTrip();
    const { outcome } = await persist(signal, () => store.put(trip));
    if (outcome === 'stored') sampled(trip);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

/** A trip whose card is not declined. */
export function calmTrip(): NewCell {
  return {
    row_key: rowKeyOfGoodCard(),
    column_name: 'BASE',
    ref_key: 1,
    body: {
      driver_partner_uuid: randomUUID(),
      trip_created_at: new Date().toISOString(),
      fare: { currency: 'USD', total: 12.5 },
    },
  };
}

/**
 * A declined card holds up its shard, and with it the samples after it: the lag is to be that of the way, not of the
 * wait.
 */
function rowKeyOfGoodCard(): string {
  for (;;) {
    const rowKey = randomUUID();
    if (declineReason(rowKey, 1, DECLINE_RATE) === undefined) return rowKey;
  }
}
