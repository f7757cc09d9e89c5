import { triggerHandler } from '../../functions/triggers/trigger-handler.ts';

const REASONS = ['The card service does not answer', 'Card expired', 'No rate for the city'];

/** Fails each cell, on one of three things, until its row has a cell in MENDED. */
export const handler = triggerHandler('failing', async (row_key, { ref_key }, schemaless) => {
  const { cell } = await schemaless.latest({ row_key, column_name: 'MENDED' });
  if (cell === null) throw new Error(`${REASONS[ref_key % REASONS.length]} (row ${row_key}, ${ref_key})`);
});
