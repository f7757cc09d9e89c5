import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { triggerHandler } from '../../../functions/triggers/trigger-handler.ts';

/** Writes its calls to a file, and reads the cell; its environment sets the duration of a call. */
export const handler = triggerHandler('bill_rider', async (rowKey, message, schemaless) => {
  const note = (text: string): void =>
    appendFileSync(process.env['APPEND_TO'] ?? '', `${text} ${message.shard}/${message.added_id}\n`);
  note('begin');
  const { cell } = await schemaless.get({
    row_key: rowKey,
    column_name: message.column_name,
    ref_key: message.ref_key,
  });
  // Clock: a call takes as long as its test says.
  await sleep(Number(process.env['CALL_MS'] ?? 0));
  note(`end ${JSON.stringify(cell?.body ?? null)}`);
});
