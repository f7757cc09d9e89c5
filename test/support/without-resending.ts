import { setTimeout as sleep } from 'node:timers/promises';
import type { SendingQueues } from '../../shared/triggers/state/queues.ts';

/**
 * Queues behind which nothing waits for a message that was refused: it is said to be taken, and sent again later,
 * alone, while the messages after it are sent.
 *
 * @param laterMs long enough for one of them
 */
export function withoutResending(queues: SendingQueues, laterMs: number): SendingQueues {
  return {
    ...queues,
    async send(queueUrl, messages) {
      const results = await queues.send(queueUrl, messages);
      const refused = messages.filter((_, item) => results[item] !== undefined);
      for (const message of refused)
        // Clock: the planted fault is a late send.
        void sleep(laterMs)
          .then(() => queues.send(queueUrl, [message]))
          .catch(() => undefined);
      return messages.map(() => undefined);
    },
  };
}
