import { setTimeout as sleep } from 'node:timers/promises';
import type { QueueClient } from '../../shared/triggers/send/queue-client.ts';

/**
 * Queues that answer before they are asked: messages are said to be taken at once, and sent later, in their order. What
 * fails then is lost, as is what waits when the process dies.
 *
 * @param laterMs longer than offsets stay unwritten, so that they are written first
 */
export function withoutWaiting(queues: QueueClient, laterMs: number): QueueClient {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...queues,
    async send(queueUrl, messages) {
      last = Promise.all([last, sleep(laterMs)]).then(() => queues.send(queueUrl, messages)).catch(() => undefined);
      return messages.map(() => undefined);
    },
  };
}
