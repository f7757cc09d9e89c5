import { setTimeout as sleep } from 'node:timers/promises';
import type { SendingQueues } from '../../shared/triggers/state/queues.ts';

/**
 * Returns queues that report messages as accepted at once and send them later, those of a group in their order.
 * Messages are lost if that send fails, or if the process dies before it.
 *
 * @param laterMs longer than offsets stay unwritten, so that they are written first
 */
export function withoutWaiting(queues: SendingQueues, laterMs: number): SendingQueues {
  /** The last send of each group. */
  const last = new Map<string, Promise<unknown>>();
  return {
    ...queues,
    async send(queueUrl, messages) {
      const before = messages.map(({ groupId }) => last.get(`${queueUrl} ${groupId}`));
      // Clock: the planted fault is a late send.
      const sent = Promise.all([sleep(laterMs), ...before])
        .then(() => queues.send(queueUrl, messages))
        .catch(() => undefined);
      for (const { groupId } of messages) last.set(`${queueUrl} ${groupId}`, sent);
      return messages.map(() => undefined);
    },
  };
}
