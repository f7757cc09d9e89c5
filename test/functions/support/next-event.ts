import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import type { Emulators } from '../../shared/triggers/consume/support/stage.ts';
import type { DeployedForTest } from './deployed-trigger.ts';

/** The event that Lambda makes of one receive. */
export async function nextEvent(emulators: Emulators, deployed: DeployedForTest): Promise<SQSEvent> {
  const { Messages = [] } = await emulators.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: deployed.queueUrl,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: 3,
      MessageSystemAttributeNames: ['All'],
    }),
  );
  return {
    Records: Messages.map(({ MessageId = '', ReceiptHandle = '', Body = '', Attributes, MD5OfBody = '' }) => ({
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      body: Body,
      attributes: Attributes as SQSEvent['Records'][number]['attributes'],
      messageAttributes: {},
      md5OfBody: MD5OfBody,
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:trips-bill_rider.fifo',
      awsRegion: 'us-east-1',
    })),
  };
}
