import { randomUUID } from 'node:crypto';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { localResources } from '../../../../../infra/local/template/resources/local-resources.ts';
import { changeQueues, createQueues, queueUrls } from '../../../../../infra/local/template/resources/queue.ts';
import type { World } from '../../../../../infra/local/template/resources/resource-kind.ts';
import { stubEnvironment } from '../../../../support/stub-environment.ts';
import { startSqs, type LocalSqs } from '../../../../support/sqs.ts';

const FIFO = { FifoQueue: true, DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' };
let sqs: LocalSqs;

beforeAll(async () => {
  sqs = await startSqs();
});
afterAll(() => sqs.stop());

function withQueues(seconds: number, receives: number, stack = 'service', world: Partial<World> = {}) {
  const redrive = { deadLetterTargetArn: { 'Fn::GetAtt': ['Parked', 'Arn'] }, maxReceiveCount: receives };
  const template = {
    Resources: {
      Cells: { Type: 'AWS::SQS::Queue', Properties: { ...FIFO, VisibilityTimeout: seconds, RedrivePolicy: redrive } },
      Parked: { Type: 'AWS::SQS::Queue', Properties: FIFO },
    },
  };
  return localResources([{ name: stack, folder: '/nowhere', template }], {
    groups: [],
    httpUrl: '',
    sqsUrl: sqs.url,
    ...world,
  });
}

describe('a queue of the template', () => {
  it('gets what a later template says of it', async () => {
    const stack = `service-${randomUUID().slice(0, 8)}`;
    const made = async (seconds: number, receives: number) => {
      const { resources, context } = withQueues(seconds, receives, stack);
      await changeQueues(await createQueues(resources, context), context);
      const [QueueUrl] = queueUrls(resources, context);
      return (await sqs.client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))).Attributes;
    };
    expect(await made(60, 5)).toMatchObject({ VisibilityTimeout: '60', DeduplicationScope: 'messageGroup' });
    expect(await made(90, 6)).toMatchObject({
      FifoQueue: 'true',
      VisibilityTimeout: '90',
      RedrivePolicy: expect.stringMatching(/"maxReceiveCount": ?"?6/u),
    });
  });

  it('is another one than that of a stack beside it, however long its name is', () => {
    const urls = ['-0a1b2c3d', '-4e5f6071'].map((queueSuffix) => {
      const { resources, context } = withQueues(60, 5, 'service'.repeat(20), { queueSuffix });
      return queueUrls(resources, context)[0] ?? '';
    });
    expect(urls).toEqual([
      expect.stringMatching(/Cells-0a1b2c3d\.fifo$/u),
      expect.stringMatching(/Cells-4e5f6071\.fifo$/u),
    ]);
    // The limit of SQS.
    for (const url of urls) expect(url.slice(url.lastIndexOf('/') + 1)).toHaveLength(80);
  });

  it('is where the environment says that queues are: in its region, of its account, or is refused', async () => {
    stubEnvironment({
      AWS_ENDPOINT_URL_SQS: sqs.url,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: '111122223333',
    });
    onTestFinished(() => void vi.unstubAllEnvs());
    const { resources, context } = withQueues(60, 5);
    expect(queueUrls(resources, context)[0]).toBe(`${sqs.url}/111122223333/service-Cells.fifo`);
    const [cells] = resources;
    expect(cells && context.property(cells, 'RedrivePolicy')).toMatchObject({
      deadLetterTargetArn: 'arn:aws:sqs:eu-west-1:111122223333:service-Parked.fifo',
    });
    if (sqs.service)
      await expect(createQueues(resources, context)).rejects.toThrow(
        'AWS_ENDPOINT_URL_SQS: wanted an SQS whose queues are at /111122223333/service-Parked.fifo, got ',
      );
  });
});
