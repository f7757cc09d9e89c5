import type { Message } from '@aws-sdk/client-sqs';

export interface QueueRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly groupId: string;
  /** How often it was received, this time included. */
  readonly receipts: number;
  /** When it was sent, milliseconds since 1970. */
  readonly sentAt: number;
}

/** Needs the attributes `MessageGroupId`, `ApproximateReceiveCount` and `SentTimestamp`. */
export function toQueueRecord({
  MessageId = '',
  ReceiptHandle = '',
  Body = '',
  Attributes: { MessageGroupId = '', ApproximateReceiveCount, SentTimestamp } = {},
}: Message): QueueRecord {
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    groupId: MessageGroupId,
    receipts: Number(ApproximateReceiveCount),
    sentAt: Number(SentTimestamp),
  };
}

/** The operations on its queue that a consumer needs, besides the messages. */
export interface ConsumerQueue {
  /** Hides messages from now on for so many seconds; 0 shows them at once. Those that are gone by now do not matter. */
  setVisibility(records: readonly QueueRecord[], seconds: number): Promise<void>;
}

/** Whether it is a retry of a parked cell: those have groups of their own, see `retryGroupId`. */
export function isRetry({ groupId }: Pick<QueueRecord, 'groupId'>): boolean {
  return groupId.endsWith('-retry');
}
