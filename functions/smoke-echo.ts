import { PermanentFailure, triggerHandler } from './triggers/trigger-handler.ts';

/**
 * Answers a cell in CALL with one in ECHO, of the same row, ref key and body: it has been read and written by then, so
 * that whoever waits for it knows that triggers work. Called again, it writes the same cell again, which changes
 * nothing.
 */
export const handler = triggerHandler('echo', async (rowKey, { column_name, ref_key, erasure }, schemaless) => {
  if (erasure !== undefined) return;
  const { cell: call } = await schemaless.get({ row_key: rowKey, column_name, ref_key });
  if (call === null) throw new Error(`The cell ${rowKey}/${column_name}/${ref_key} cannot be read yet`);
  if (call.erased === true) return;
  const { outcome } = await schemaless.put({ row_key: rowKey, column_name: 'ECHO', ref_key, body: call.body });
  if (outcome === 'conflict') throw new PermanentFailure(`Somebody else has written ${rowKey}/ECHO/${ref_key}`);
});
