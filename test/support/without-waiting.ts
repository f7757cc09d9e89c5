import { setTimeout as sleep } from 'node:timers/promises';
import type { SendingQueues } from '../../shared/triggers/state/queues.ts';

/**
 * Queues that answer before they are asked: messages are said to be taken at once, and sent later, those of a group in
 * their order. What fails then is lost, as is what waits when the process dies.
 *
 * @param laterMs longer than offsets stay unwritten, so that they are written first
 */
export function withoutWaiting(queues: SendingQueues, laterMs: number): SendingQueues {
  /** Of each group, what was to be sent last. */
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
