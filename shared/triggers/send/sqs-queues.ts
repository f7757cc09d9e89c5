import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { queueDepth } from '../state/sqs-trigger-queues.ts';
import type { QueueClient } from './queue-client.ts';

/**
 * A request that takes longer is given up and repeated: whatever of it was done is dropped by its deduplication ids.
 */
const TIMEOUT_MS = 5000;

/** SQS as tailing sees it. */
export function sqsQueues(client: SQSClient): QueueClient {
  return {
    async send(queueUrl, messages) {
      const { Successful = [], Failed = [] } = await client.send(
        new SendMessageBatchCommand({
          QueueUrl: queueUrl,
          Entries: messages.map(({ body, groupId, deduplicationId }, item) => ({
            Id: String(item),
            MessageBody: body,
            MessageGroupId: groupId,
            MessageDeduplicationId: deduplicationId,
          })),
        }),
        { abortSignal: AbortSignal.timeout(TIMEOUT_MS) },
      );
      const accepted = new Set(Successful.map(({ Id }) => Id));
      const reasons = new Map(
        Failed.map(({ Id, Code, Message }) => [Id, `${Code ?? 'no code'}: ${Message ?? 'no message'}`]),
      );
      // What the answer does not mention is not taken for sent.
      return messages.map((_, item) =>
        accepted.has(String(item))
          ? undefined
          : new Error(reasons.get(String(item)) ?? 'SQS did not say what became of it'),
      );
    },

    depth: (queueUrl) => queueDepth(client, queueUrl),
  };
}
