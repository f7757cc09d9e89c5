import { onceWithin, sqsClient } from '../login/clients.ts';
import { queueCounts, type QueueCounts } from '../event-sources/queue-of-source.ts';
import type { StackQueue } from '../template/stack-queues.ts';

export interface QueueStatus extends StackQueue, Partial<QueueCounts> {}

const ANSWER_MS = 2000;

export async function queueStatus(queues: readonly StackQueue[], sqsUrl: string): Promise<readonly QueueStatus[]> {
  using client = sqsClient(sqsUrl, onceWithin(ANSWER_MS));
  return await Promise.all(
    queues.map(async (queue) => ({ ...queue, ...(await queueCounts(client, queue.url).catch(() => ({}))) })),
  );
}
