import './skip-without-aws.ts';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { inject } from 'vitest';
import type { Service } from '../../infra/local/emulators/emulator.ts';
import { startService } from '../../infra/local/emulators/start-service.ts';
import { sqsClient } from './triggers/triggered-access.ts';
import { toQueueRecord, type QueueRecord } from '../../shared/triggers/consume/queue-record.ts';

export interface LocalSqs {
  readonly url: string;
  readonly client: SQSClient;
  /** Makes a FIFO queue as triggers have them, and returns its URL. */
  newQueue(attributes?: Readonly<Record<string, string>>): Promise<string>;
  /** The run's own service, which tests can stop for a while; undefined for `SCHEMALESS_AWS`. */
  readonly service: Service | undefined;
  stop(): Promise<void>;
}

const FIFO = {
  FifoQueue: 'true',
  DeduplicationScope: 'messageGroup',
  FifoThroughputLimit: 'perMessageGroupId',
  VisibilityTimeout: '30',
};

/**
 * Opens SQS over its wire protocol: the one of `SCHEMALESS_AWS`, else one in its own thread, with its queues in a
 * folder that is deleted with it.
 */
export async function startSqs(): Promise<LocalSqs> {
  const folder = await mkdtemp(join(tmpdir(), 'schemaless-sqs-'));
  const outside = inject('servers').outsideAws;
  const service = outside ? undefined : await startService('sqs', folder);
  const url = outside?.sqs ?? service?.url ?? '';
  const client = sqsClient(url);
  return {
    url,
    client,
    async newQueue(attributes = {}) {
      const { QueueUrl = '' } = await client.send(
        new CreateQueueCommand({
          QueueName: `queue-${randomUUID().slice(0, 8)}.fifo`,
          Attributes: { ...FIFO, ...attributes },
        }),
      );
      return QueueUrl;
    },
    service,
    async stop() {
      client.destroy();
      await service?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Takes what a queue holds now off it, in the order in which it gives it, until it has nothing more to give. */
export async function drainQueue({ client }: Pick<LocalSqs, 'client'>, queueUrl: string): Promise<Message[]> {
  const drained: Message[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 0,
        MessageSystemAttributeNames: ['All'],
      }),
    );
    if (Messages.length === 0) return drained;
    drained.push(...Messages);
    await client.send(
      new DeleteMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: Messages.map(({ ReceiptHandle }, item) => ({ Id: String(item), ReceiptHandle })),
      }),
    );
  }
}

/** Receives up to ten messages, as consumers take them. */
export async function receiveRecords(client: SQSClient, queueUrl: string, waitSeconds: number): Promise<QueueRecord[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ['All'],
    }),
  );
  return Messages.map(toQueueRecord);
}
