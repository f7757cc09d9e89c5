import { randomUUID } from 'node:crypto';
import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
  type Message,
} from '@aws-sdk/client-sqs';

export function sqsClient(url: string): SQSClient {
  return new SQSClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
}

/** A FIFO queue as a test sees it: messages are `group:text`, written as one string. */
export interface FifoQueue {
  readonly url: string;
  readonly arn: string;
  send(...messages: string[]): Promise<void>;
  /** With a long poll of so many seconds. */
  receive(count?: number, waitSeconds?: number): Promise<readonly Message[]>;
  delete(...messages: readonly Message[]): Promise<void>;
  hide(seconds: number, ...messages: readonly Message[]): Promise<void>;
  /** The same, in one request. */
  hideAll(seconds: number, messages: readonly Message[]): Promise<void>;
  count(): Promise<{ readonly visible: number; readonly held: number }>;
}

export async function fifoQueue(
  client: SQSClient,
  attributes: Record<string, string> = {},
  name = `queue-${randomUUID().slice(0, 8)}.fifo`,
): Promise<FifoQueue> {
  const { QueueUrl = '' } = await client.send(
    new CreateQueueCommand({
      QueueName: name,
      Attributes: { FifoQueue: 'true', VisibilityTimeout: '60', ...attributes },
    }),
  );
  return queueAt(client, QueueUrl);
}

export function queueAt(client: SQSClient, url: string): FifoQueue {
  const name = url.slice(url.lastIndexOf('/') + 1);
  return {
    url,
    arn: `arn:aws:sqs:us-east-1:000000000000:${name}`,
    async send(...messages) {
      for (let at = 0; at < messages.length; at += 10) {
        const Entries = messages.slice(at, at + 10).map((text, index) => ({
          Id: String(index),
          MessageBody: text,
          MessageGroupId: text.split(':')[0],
          MessageDeduplicationId: randomUUID(),
        }));
        await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
      }
    },
    async receive(count = 10, waitSeconds = 0) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: url,
          MaxNumberOfMessages: count,
          WaitTimeSeconds: waitSeconds,
          MessageSystemAttributeNames: ['All'],
        }),
      );
      return Messages;
    },
    async delete(...messages) {
      for (const { ReceiptHandle } of messages)
        await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
    },
    async hide(seconds, ...messages) {
      for (const { ReceiptHandle } of messages)
        await client.send(
          new ChangeMessageVisibilityCommand({ QueueUrl: url, ReceiptHandle, VisibilityTimeout: seconds }),
        );
    },
    async hideAll(seconds, messages) {
      const Entries = messages.map(({ ReceiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle,
        VisibilityTimeout: seconds,
      }));
      await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
    },
    async count() {
      const { Attributes = {} } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
      );
      return {
        visible: Number(Attributes['ApproximateNumberOfMessages']),
        held: Number(Attributes['ApproximateNumberOfMessagesNotVisible']),
      };
    },
  };
}

export function texts(messages: readonly Message[]): readonly (string | undefined)[] {
  return messages.map(({ Body }) => Body);
}
