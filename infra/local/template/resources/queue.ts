import type { SQSClient } from '@aws-sdk/client-sqs';
import { awsAccount, awsLogin } from '../../stack/aws-login.ts';
import { localArn, type ResourceAddress } from '../template.ts';
import { physicalName, type Context, type ResourceKind } from './resource-kind.ts';

/** A queue's `Ref` is its URL, not its name. */
export const QUEUE: ResourceKind = {
  ref: (address, context) => `${context.world.sqsUrl}/${awsAccount()}/${queueName(address, context)}`,
  attribute: (address, name, context) => {
    const queue = queueName(address, context);
    if (name === 'Arn') return localArn('sqs', queue, { region: awsLogin().region, account: awsAccount() });
    if (name === 'QueueName') return queue;
    return name === 'QueueUrl' ? QUEUE.ref(address, context) : undefined;
  },
};

/** Properties that are attributes of the same name; all of them are text to SQS. */
const ATTRIBUTES = [
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'DelaySeconds',
  'FifoQueue',
  'FifoThroughputLimit',
  'MaximumMessageSize',
  'MessageRetentionPeriod',
  'ReceiveMessageWaitTimeSeconds',
  'RedrivePolicy',
  'VisibilityTimeout',
];

interface WantedQueue {
  readonly url: string;
  readonly name: string;
  readonly attributes: Record<string, string>;
}

/** Where the queues are, in the order of the template. */
export function queueUrls(resources: readonly ResourceAddress[], context: Context): readonly string[] {
  return resources
    .filter(({ resource }) => resource.Type === 'AWS::SQS::Queue')
    .map((address) => QUEUE.ref(address, context));
}

/**
 * Makes the queues that are not there yet, those that others send their failures to first, and changes what differs in
 * the others.
 */
export async function createQueues(resources: readonly ResourceAddress[], context: Context): Promise<void> {
  const queues = resources
    .filter(({ resource }) => resource.Type === 'AWS::SQS::Queue')
    .map((address): WantedQueue => ({
      url: QUEUE.ref(address, context),
      name: queueName(address, context),
      attributes: attributesOf(address, context),
    }))
    .sort((left, right) => Number('RedrivePolicy' in left.attributes) - Number('RedrivePolicy' in right.attributes));
  if (queues.length === 0) return;
  const { SQSClient } = await import('@aws-sdk/client-sqs');
  const client = new SQSClient({ endpoint: context.world.sqsUrl, ...awsLogin() });
  try {
    for (const queue of queues) await createQueue(client, queue);
  } finally {
    client.destroy();
  }
}

async function createQueue(client: SQSClient, { url, name, attributes }: WantedQueue): Promise<void> {
  const { CreateQueueCommand, GetQueueAttributesCommand, SetQueueAttributesCommand } =
    await import('@aws-sdk/client-sqs');
  try {
    const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
    // Whatever host it names: it is asked where it was found.
    if (!QueueUrl.endsWith(new URL(url).pathname))
      throw new Error(
        `AWS_ENDPOINT_URL_SQS: wanted an SQS whose queues are at ${new URL(url).pathname}, got ${QueueUrl}`,
      );
  } catch (error) {
    if (!(error instanceof Error && /Queue(?:Name|Already)Exists$/u.test(error.name))) throw error;
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
    );
    const other = Object.entries(attributes).filter(([key, value]) => Object(Attributes)[key] !== value);
    await client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: Object.fromEntries(other) }));
  }
}

function attributesOf(address: ResourceAddress, context: Context): Record<string, string> {
  const set = ATTRIBUTES.map((name): [string, unknown] => [name, context.property(address, name)]).filter(
    ([, value]) => value !== undefined,
  );
  return Object.fromEntries(
    set.map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]),
  );
}

/** SQS allows 80 characters; the end tells two queues of one stack apart. */
function queueName(address: ResourceAddress, context: Context): string {
  const name = context.property(address, 'QueueName');
  if (typeof name === 'string') return name;
  const end = `${context.world.queueSuffix ?? ''}${String(context.property(address, 'FifoQueue')) === 'true' ? '.fifo' : ''}`;
  return `${physicalName(address).slice(-(80 - end.length))}${end}`;
}
