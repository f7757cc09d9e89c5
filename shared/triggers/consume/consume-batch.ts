import { openBatch, type BatchLimits } from './batch.ts';
import type { Consumer } from './consumer.ts';
import type { QueueRecord } from './queue-record.ts';

/**
 * Consumes the messages that were received together, one after the other: side by side, a function that ends its
 * process would count against every cell that was in hand.
 *
 * A message that fails goes back to the queue, with those behind it in its group; other groups go on. Never throws for
 * what a message or the function does, nor while the state table or the queue are away.
 *
 * @returns those that are done, to be deleted from the queue; the others have been given back
 */
export async function consumeBatch(
  consumer: Consumer,
  records: readonly QueueRecord[],
  limits: BatchLimits = {},
): Promise<readonly QueueRecord[]> {
  const batch = openBatch(consumer, records, limits);
  try {
    const done: QueueRecord[] = [];
    for (const record of records) {
      if ((await batch.consume(record)) === 'done') done.push(record);
    }
    return done;
  } finally {
    await batch.end();
  }
}
