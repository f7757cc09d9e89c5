import { randomUUID } from 'node:crypto';
import { declineReason } from '../../../functions/examples/billing/simulated-cards.ts';
import type { NewCell } from '../../../shared/cell.ts';

/** The default of the card service. */
const DECLINE_RATE = 0.05;

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
 * Returns a row key whose card is accepted: a declined one blocks its shard and the samples behind it. The lag must be
 * that of the path, not of the wait.
 */
function rowKeyOfGoodCard(): string {
  for (;;) {
    const rowKey = randomUUID();
    if (declineReason(rowKey, 1, DECLINE_RATE) === undefined) return rowKey;
  }
}
