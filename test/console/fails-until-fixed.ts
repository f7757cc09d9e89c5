import { triggerHandler } from '../../functions/triggers/trigger-handler.ts';

const REASONS = [
  'The message service does not answer',
  'The device is not registered any more',
  'No text in the language of',
];
/** Of the last digit of a row key, where the cell is of another column than `BAD`: of few rows. */
const FAILING_ROWS = ['0', '5', 'a'];

/** Fails each cell of `BAD`, and some of others, on one of three things, until its row has a cell in `FIXED`. */
export const handler = triggerHandler('notify_driver', async (row_key, { column_name, ref_key }, schemaless) => {
  const last = row_key.slice(-1);
  if (column_name !== 'BAD' && !FAILING_ROWS.includes(last)) return;
  const { cell } = await schemaless.getLatest({ row_key, column_name: 'FIXED' });
  if (cell === null) throw new Error(`${REASONS[Number.parseInt(last, 16) % REASONS.length]} ${row_key}, ${ref_key}`);
});
