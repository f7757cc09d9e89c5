import { consume } from '../../../functions/triggers/consume.ts';
import { triggerHandler } from '../../../functions/triggers/trigger-handler.ts';

/** A program that consumes a trigger, and prints a line for each cell. */
const handler = triggerHandler('bill_rider', (_rowKey, { shard, added_id }) => {
  console.log(`billed ${shard}/${added_id}`);
});
await consume(handler, process.argv.includes('--metrics') ? { metrics: true } : {});
