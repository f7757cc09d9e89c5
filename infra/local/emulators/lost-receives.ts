import type { FauxqsQueue, FauxqsRouter, ReceivedMessage } from './fauxqs-parts.ts';

/**
 * Gives back at once, uncounted, what a caller that has gone would have received. A long poll of fauxqs outlives its
 * caller by up to 20 s and would hold the message's group until its visibility ends.
 */
export function mendLostReceives(prototype: FauxqsRouter): void {
  const { register } = prototype;
  prototype.register = function registerMended(action, answer) {
    if (action !== 'ReceiveMessage') return register.call(this, action, answer);
    register.call(this, action, async (body, store, request) => {
      const result = await answer(body, store, request);
      const queue = store.getQueue(body.QueueUrl ?? '');
      if (queue && request.raw.socket.destroyed)
        for (const message of Object(result).Messages ?? []) giveBackUnseen(queue, message);
      return result;
    });
  };
}

function giveBackUnseen(queue: FauxqsQueue, { ReceiptHandle }: ReceivedMessage): void {
  const held = queue.inflightMessages.get(ReceiptHandle);
  if (!held) return;
  held.message.approximateReceiveCount -= 1;
  queue.changeVisibility(ReceiptHandle, 0);
}
