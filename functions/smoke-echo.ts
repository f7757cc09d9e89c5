import { triggerHandler } from './triggers/trigger-handler.ts';

/** Answers a cell in CALL with one in ECHO (same row, ref key, body), to show that triggers work. */
export const handler = triggerHandler('echo', async (rowKey, { column_name, ref_key, erasure }, store) => {
  if (erasure !== undefined) return;
  const { cell: call } = await store.get({ row_key: rowKey, column_name, ref_key });
  if (call === null) throw new Error(`The cell ${rowKey}/${column_name}/${ref_key} cannot be read yet`);
  if (call.erased === true) return;
  await store.put({ row_key: rowKey, column_name: 'ECHO', ref_key, body: call.body });
});
