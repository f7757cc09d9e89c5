import {
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs';

export type ReceivedMessage = Message & { readonly MessageId: string; readonly ReceiptHandle: string };

/** The queue of an event source. All methods throw what the service throws. */
export interface QueueOfSource {
  /** Waits up to 20 s for messages. */
  receive(signal: AbortSignal): Promise<readonly ReceivedMessage[]>;
  delete(messages: readonly ReceivedMessage[]): Promise<readonly ReceivedMessage[]>;
}

export interface QueueCounts {
  readonly visible: number;
  /** Held by a receiver, or waiting for their next attempt. */
  readonly held: number;
}

export function queueOfSource(client: SQSClient, url: string, batchSize: number): QueueOfSource {
  return {
    async receive(signal) {
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
    async delete(messages) {
      const Entries = messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
      // An unknown receipt stays unknown: the message returned, or is gone.
      return Failed.filter(({ SenderFault }) => SenderFault !== true).flatMap(({ Id }) => messages[Number(Id)] ?? []);
    },
  };
}

export async function queueCounts(client: SQSClient, url: string): Promise<QueueCounts> {
  const command = new GetQueueAttributesCommand({
    QueueUrl: url,
    AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
  });
  const { Attributes = {} } = await client.send(command);
  return {
    visible: Number(Attributes['ApproximateNumberOfMessages']),
    held: Number(Attributes['ApproximateNumberOfMessagesNotVisible']),
  };
}
