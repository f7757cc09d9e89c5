import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { startSqs } from '../../../../infra/local/emulators/sqs.ts';
import { localResources } from '../../../../infra/local/resources/local-resources.ts';
import { createQueues, queueUrls } from '../../../../infra/local/resources/queue.ts';
import { sqsClient } from '../../support/fifo-queue.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

it('a queue of the template gets what a later template says of it', async () => {
  using folder = temporaryFolder();
  const sqs = await startSqs(folder.path, 0);
  const client = sqsClient(sqs.url);
  try {
    const make = async (seconds: number, receives: number): Promise<string | undefined> => {
      const redrive = { deadLetterTargetArn: { 'Fn::GetAtt': ['Parked', 'Arn'] }, maxReceiveCount: receives };
      const fifo = { FifoQueue: true, DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' };
      const template = {
        Resources: {
          Cells: { Type: 'AWS::SQS::Queue', Properties: { ...fifo, VisibilityTimeout: seconds, RedrivePolicy: redrive } },
          Parked: { Type: 'AWS::SQS::Queue', Properties: fifo },
        },
      };
      const { resources, context } = localResources([{ name: 'service', folder: '/nowhere', template }], { groups: [], httpUrl: '', sqsUrl: sqs.url });
      await createQueues(resources, context);
      return queueUrls(resources, context)[0];
    };
    const attributes = async (url: string | undefined) => (await client.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }))).Attributes;
    expect(await attributes(await make(60, 5))).toMatchObject({ VisibilityTimeout: '60', DeduplicationScope: 'messageGroup' });
    expect(await attributes(await make(90, 6))).toMatchObject({ FifoQueue: 'true', VisibilityTimeout: '90', RedrivePolicy: expect.stringContaining('"maxReceiveCount":6') });
  } finally {
    client.destroy();
    await sqs.close();
  }
});
