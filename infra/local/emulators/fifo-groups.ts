import { randomUUID } from 'node:crypto';
import type { FauxqsQueue, HeldMessage, QueuedMessage, ReceivedMessage } from './fauxqs-parts.ts';

/** SQS gives no more at once. */
const MOST_AT_ONCE = 10;
/** Between checks for messages to return while receivers wait: the 20 ms of fauxqs took a percent of a core. */
const RETURN_EVERY_MS = 250;

/**
 * Makes FIFO queues of fauxqs hand out groups as SQS does. fauxqs gives one message of a group at a time and returns
 * messages in reverse order.
 *
 * - One receive takes as many messages of a group as wanted, in order, then of the next group. A served group goes to
 * the end of the line.
 * - A group with a held message gives nothing.
 * - Messages return to their places by sequence number.
 * - Messages return up to 250 ms late.
 * - A message received too often moves to the dead-letter queue in one step: fauxqs loses it if killed in between.
 */
export function fixFifoGroups(prototype: FauxqsQueue): void {
  const { changeVisibility, processTimers } = prototype;
  prototype.dequeueFifo = function dequeueFifo(limit, visibilitySeconds, queueByArn) {
    return receive(this, { limit, visibilitySeconds, tooOften: redriveOf(this, queueByArn) });
  };
  prototype.changeVisibility = function changeVisibilityInOrder(receiptHandle, seconds) {
    const held = this.inflightMessages.get(receiptHandle);
    if (!held || seconds > 0 || !this.isFifo()) return changeVisibility.call(this, receiptHandle, seconds);
    giveBack(this, held);
    this.notifyWaiters();
  };
  prototype.startPollTimerIfNeeded = function startPollTimer() {
    this.pollTimer ??= setInterval(() => this.processTimers(), RETURN_EVERY_MS);
  };
  prototype.processTimers = function processTimersInOrder() {
    if (!this.isFifo()) return processTimers.call(this);
    const now = Date.now();
    for (const held of this.inflightMessages.values()) if (held.visibilityDeadline <= now) giveBack(this, held);
    const held = this.inflightMessages.size;
    processTimers.call(this);
    // It reads the clock again, and puts what has returned since then first.
    if (this.inflightMessages.size < held)
      for (const messages of this.fifoMessages.values())
        messages.sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
  };
}

interface Redrive {
  readonly maxReceives: number;
  readonly queue: FauxqsQueue;
}

interface Receive {
  readonly limit: number;
  readonly visibilitySeconds: number | undefined;
  readonly tooOften: Redrive | undefined;
}

function receive(queue: FauxqsQueue, { limit, visibilitySeconds, tooOften }: Receive): ReceivedMessage[] {
  queue.processTimers();
  const count = Math.min(limit, MOST_AT_ONCE);
  const deadline = Date.now() + (visibilitySeconds ?? Number(queue.attributes['VisibilityTimeout'])) * 1000;
  const received: ReceivedMessage[] = [];
  for (const [group, messages] of queue.fifoMessages) {
    if (received.length >= count) break;
    if (queue.fifoLockedGroups.has(group)) continue;
    while (received.length < count) {
      const message = messages.shift();
      if (!message) break;
      if (tooOften && message.approximateReceiveCount >= tooOften.maxReceives) moveTo(tooOften.queue, message);
      else received.push(hold(queue, group, message, deadline));
    }
    queue.fifoMessages.delete(group);
    if (messages.length > 0) queue.fifoMessages.set(group, messages);
  }
  return received;
}

function hold(queue: FauxqsQueue, group: string, message: QueuedMessage, visibilityDeadline: number): ReceivedMessage {
  message.approximateReceiveCount += 1;
  message.approximateFirstReceiveTimestamp ??= Date.now();
  const receiptHandle = randomUUID();
  queue.inflightMessages.set(receiptHandle, { message, receiptHandle, visibilityDeadline });
  queue.fifoLockedGroups.set(group, (queue.fifoLockedGroups.get(group) ?? 0) + 1);
  persist(queue, message, receiptHandle, visibilityDeadline);
  return {
    MessageId: message.messageId,
    ReceiptHandle: receiptHandle,
    MD5OfBody: message.md5OfBody,
    Body: message.body,
    ...(message.md5OfMessageAttributes !== '' && { MD5OfMessageAttributes: message.md5OfMessageAttributes }),
    ...(Object.keys(message.messageAttributes).length > 0 && { MessageAttributes: message.messageAttributes }),
  };
}

/** Puts a held message back into its place in its group. */
function giveBack(queue: FauxqsQueue, { message, receiptHandle }: HeldMessage): void {
  const group = groupOf(message);
  queue.inflightMessages.delete(receiptHandle);
  const held = (queue.fifoLockedGroups.get(group) ?? 1) - 1;
  if (held > 0) queue.fifoLockedGroups.set(group, held);
  else queue.fifoLockedGroups.delete(group);

  const messages = queue.fifoMessages.get(group) ?? [];
  const later = messages.findIndex((other) => orderOf(other) > orderOf(message));
  messages.splice(later < 0 ? messages.length : later, 0, message);
  queue.fifoMessages.set(group, messages);
  persist(queue, message, null, null);
}

function persist(queue: FauxqsQueue, message: QueuedMessage, handle: string | null, deadline: number | null): void {
  const { messageId, approximateReceiveCount: count, approximateFirstReceiveTimestamp: first } = message;
  queue.persistence?.updateMessageInflight(messageId, handle, deadline, count, first);
}

function redriveOf(
  queue: FauxqsQueue,
  queueByArn: ((arn: string) => FauxqsQueue | undefined) | undefined,
): Redrive | undefined {
  const policy = queue.attributes['RedrivePolicy'];
  if (policy === undefined || policy === '') return undefined;
  const { deadLetterTargetArn, maxReceiveCount } = Object(JSON.parse(policy));
  const target = queueByArn?.(String(deadLetterTargetArn));
  return target && { maxReceives: Number(maxReceiveCount), queue: target };
}

/** Replaces the message's row, so that one of the queues always has it. */
function moveTo(queue: FauxqsQueue, message: QueuedMessage): void {
  message.sequenceNumber = queue.nextSequenceNumber();
  queue.enqueue(message);
}

function groupOf({ messageGroupId }: QueuedMessage): string {
  return messageGroupId ?? '';
}

function orderOf({ sequenceNumber }: QueuedMessage): string {
  return sequenceNumber ?? '';
}
