import { billTrip } from './billing/bill-trip.ts';
import { simulatedCards } from './billing/simulated-cards.ts';
import { logger } from '../environment/log.ts';
import { readVariables } from '../environment/variables.ts';
import { triggerHandler } from '../triggers/trigger-handler.ts';

// Read when the function loads: a wrong value fails before a trip waits for it.
const { rate } = readVariables({
  /** The share of attempts that the simulated card service declines. */
  rate: {
    name: 'CARD_DECLINE_RATE',
    wanted: 'a number from 0 to 1',
    parse: (value) => (Number(value) >= 0 && Number(value) <= 1 ? Number(value) : undefined),
    fallback: 0.05,
  },
});

/** Bills the rider of a trip once its BASE cell is written; a simulated card service declines some attempts. */
export const handler = triggerHandler(
  'bill_rider',
  async (rowKey, message, schemaless) => {
    const { shard, added_id, ref_key, created_at, replay } = message;
    // The benchmarks read the function's start time from the log.
    logger.info('billing', {
      row_key: rowKey,
      ref_key,
      shard,
      added_id,
      replay,
      started_at: Date.now(),
      lag_ms: Date.now() - Date.parse(created_at),
    });
    const cards = simulatedCards(schemaless, rate);
    const { outcome } = await billTrip(rowKey, { trips: schemaless, cards });
    logger.debug('billed', { row_key: rowKey, outcome });
  },
  { atOnce: 10 },
);
