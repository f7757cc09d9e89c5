import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type QueueAttributeName,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { DeadMessage, TriggerQueues } from './trigger-queues.ts';

/** What can be received, what is being consumed or waits for its next attempt, what was sent to be received later. */
const COUNTS: QueueAttributeName[] = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
];
const TIMEOUT_MS = 5000;
/** SQS takes and gives so many messages a request. */
const MOST = 10;

/** About how many messages a queue holds: SQS counts them a little late, up to a minute. */
export async function queueDepth(client: SQSClient, queueUrl: string): Promise<number> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: COUNTS }),
    { abortSignal: AbortSignal.timeout(TIMEOUT_MS) },
  );
  return COUNTS.reduce((sum, count) => sum + Number(Attributes[count] ?? 0), 0);
}

export function sqsTriggerQueues(client: SQSClient): TriggerQueues {
  const entriesOf = (messages: readonly DeadMessage[]) =>
    messages.map(({ receiptHandle }, position) => ({ Id: String(position), ReceiptHandle: receiptHandle }));
  const pagesOf = (messages: readonly DeadMessage[]): DeadMessage[][] =>
    Array.from({ length: Math.ceil(messages.length / MOST) }, (_, page) =>
      messages.slice(page * MOST, (page + 1) * MOST),
    );
  const abort = () => ({ abortSignal: AbortSignal.timeout(TIMEOUT_MS) });
  return {
    depth: (queueUrl) => queueDepth(client, queueUrl),

    async receive(queueUrl, seconds) {
      const command = new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: MOST,
        VisibilityTimeout: seconds,
        WaitTimeSeconds: 0,
        MessageSystemAttributeNames: ['SentTimestamp'],
      });
      const { Messages = [] } = await client.send(command, abort());
      return Messages.map(({ MessageId = '', ReceiptHandle = '', Body = '', Attributes }) => ({
        messageId: MessageId,
        receiptHandle: ReceiptHandle,
        body: Body,
        sentAt: Number(Attributes?.SentTimestamp ?? 0),
      }));
    },

    async show(queueUrl, messages) {
      for (const page of pagesOf(messages)) {
        const Entries = entriesOf(page).map((entry) => ({ ...entry, VisibilityTimeout: 0 }));
        await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }), abort());
      }
    },

    async remove(queueUrl, messages) {
      for (const page of pagesOf(messages)) {
        const { Failed = [] } = await client.send(
          new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries: entriesOf(page) }),
          abort(),
        );
        const [failed] = Failed;
        if (failed) throw new Error(`${Failed.length} messages were not deleted: ${failed.Code ?? 'no code'}`);
      }
    },
  };
}
