import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs';

export type ReceivedMessage = Message & { readonly MessageId: string; readonly ReceiptHandle: string };

/** The queue of an event source. All methods throw what the service throws. */
export type QueueOfSource = ReturnType<typeof queueOfSource>;

export function queueOfSource(client: SQSClient, url: string, batchSize: number) {
  return {
    /** Waits up to 20 s for messages. */
    async receive(signal: AbortSignal): Promise<readonly ReceivedMessage[]> {
      const command = new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: batchSize,
        WaitTimeSeconds: 20,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      });
      const { Messages = [] } = await client.send(command, { abortSignal: signal });
      return Messages as ReceivedMessage[];
    },
    async delete(messages: readonly ReceivedMessage[]): Promise<readonly ReceivedMessage[]> {
      const Entries = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
      // An unknown receipt stays unknown: the message returned, or is gone.
      return Failed.filter(({ SenderFault }) => SenderFault !== true).flatMap(({ Id }) => messages[Number(Id)] ?? []);
    },
  };
}

export type QueueCounts = Awaited<ReturnType<typeof queueCounts>>;

export async function queueCounts(client: SQSClient, url: string) {
  const command = new GetQueueAttributesCommand({
    QueueUrl: url,
    AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
  });
  const { Attributes = {} } = await client.send(command);
  return {
    visible: Number(Attributes['ApproximateNumberOfMessages']),
    /** Held by a receiver, or waiting for their next attempt. */
    held: Number(Attributes['ApproximateNumberOfMessagesNotVisible']),
  };
}
