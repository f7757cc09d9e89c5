import { setTimeout as sleep } from 'node:timers/promises';
import type { SendingQueues } from '../../shared/triggers/state/queues.ts';

/**
 * Returns queues that report a refused message as accepted. They send it again later, alone, and send the messages
 * after it in the meantime.
 *
 * @param laterMs long enough for one of these messages
 */
export function withoutResending(queues: SendingQueues, laterMs: number): SendingQueues {
  return {
    ...queues,
    async send(queueUrl, messages) {
      const results = await queues.send(queueUrl, messages);
      for (const message of messages.filter((_, item) => results[item] !== undefined))
        // Clock: the planted fault is a late send.
        void sleep(laterMs)
          .then(() => queues.send(queueUrl, [message]))
          .catch(() => undefined);
      return messages.map(() => undefined);
    },
  };
}
