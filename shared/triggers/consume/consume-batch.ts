import { openBatch, type BatchLimits } from './batch.ts';
import type { Consumer } from './consumer.ts';
import type { QueueRecord } from './queue-record.ts';

/**
 * Consumes messages that were received together, one after another, and returns those to be deleted. A message that fails
 * goes back to the queue with those behind it in its group; other groups go on. Never throws for what a message or the
 * function does, nor while the state table or the queue are unavailable.
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
