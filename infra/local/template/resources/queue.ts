import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  QueueDoesNotExist,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { awsAccount, awsLogin } from '../../login/aws-login.ts';
import { sqsClient } from '../../login/clients.ts';
import { localArn } from '../../arn.ts';
import { type ResourceAddress, ofType } from '../template.ts';
import { physicalName, type Context, type ResourceKind } from './resource-kind.ts';
import { existsSync, readFileSync } from 'node:fs';
import { queueCounts } from '../../event-sources/queue-of-source.ts';
import { writeFileAtomically } from '../../folder/state-file.ts';

/** A queue's `Ref` is its URL. */
export const QUEUE: ResourceKind = {
  ref: (address, context) => `${context.world.sqsUrl}/${awsAccount()}/${queueName(address, context)}`,
  attribute: (address, name, context) => {
    const queue = queueName(address, context);
    if (name === 'Arn') return localArn('sqs', queue, { region: awsLogin().region, account: awsAccount() });
    if (name === 'QueueName') return queue;
    return name === 'QueueUrl' ? QUEUE.ref(address, context) : undefined;
  },
};

/** Properties that are SQS attributes of the same name. */
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

export function queueUrls(resources: readonly ResourceAddress[], context: Context): readonly string[] {
  return ofType(resources, 'AWS::SQS::Queue').map((address) => QUEUE.ref(address, context));
}

/** Attributes in which an existing queue differs. */
interface QueueChange {
  readonly url: string;
  readonly attributes: Record<string, string>;
}

/** Makes the missing queues, dead-letter queues first. Returns the differences of the others, for `changeQueues`. */
export async function createQueues(
  resources: readonly ResourceAddress[],
  context: Context,
): Promise<readonly QueueChange[]> {
  const queues = ofType(resources, 'AWS::SQS::Queue')
    .map((address): WantedQueue => ({
      url: QUEUE.ref(address, context),
      name: queueName(address, context),
      attributes: attributesOf(address, context),
    }))
    .sort((left, right) => Number('RedrivePolicy' in left.attributes) - Number('RedrivePolicy' in right.attributes));
  if (queues.length === 0) return [];
  using client = sqsClient(context.world.sqsUrl);
  const changes: QueueChange[] = [];
  for (const queue of queues) changes.push(...(await createQueue(client, queue)));
  return changes;
}

export async function changeQueues(changes: readonly QueueChange[], context: Context): Promise<void> {
  if (changes.length === 0) return;
  using client = sqsClient(context.world.sqsUrl);
  for (const { url, attributes } of changes)
    await client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: attributes }));
}

/** Returns the differences of an existing queue. */
async function createQueue(client: SQSClient, { url, name, attributes }: WantedQueue): Promise<readonly QueueChange[]> {
  try {
    const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: attributes }));
    // The queue is asked at its known host, whatever host SQS names.
    if (!QueueUrl.endsWith(new URL(url).pathname))
      throw new Error(
        `AWS_ENDPOINT_URL_SQS: wanted an SQS whose queues are at ${new URL(url).pathname}, got ${QueueUrl}`,
      );
    return [];
  } catch (error) {
    if (!(error instanceof Error && /Queue(?:Name|Already)Exists$/u.test(error.name))) throw error;
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
    );
    const other = Object.entries(attributes).filter(([key, value]) => Object(Attributes)[key] !== value);
    return [{ url, attributes: Object.fromEntries(other) }];
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

/** SQS allows 80 characters; the end distinguishes a stack's queues. */
function queueName(address: ResourceAddress, context: Context): string {
  const name = context.property(address, 'QueueName');
  if (typeof name === 'string') return name;
  const end = `${context.world.queueSuffix ?? ''}${String(context.property(address, 'FifoQueue')) === 'true' ? '.fifo' : ''}`;
  return `${physicalName(address).slice(-(80 - end.length))}${end}`;
}

interface FormerQueues {
  readonly file: string;
  readonly urls: readonly string[];
  readonly sqsUrl: string;
  readonly log: (line: string) => void;
}

/** Call it before queues are made: the next template deletes those of a template that failed. */
export function rememberQueues({ file, urls }: Pick<FormerQueues, 'file' | 'urls'>): void {
  const former = rememberedIn(file);
  const more = urls.map(nameOf).filter((name) => !former.includes(name));
  if (more.length > 0) writeFileAtomically(file, JSON.stringify([...former, ...more]));
}

function rememberedIn(file: string): readonly string[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly string[]) : [];
}

const nameOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

/** Deletes queues that the template no longer has, last. A trigger defined again begins at its `start`. */
export async function deleteFormerQueues({ file, urls, sqsUrl, log }: FormerQueues): Promise<void> {
  const names = urls.map(nameOf);
  const gone = rememberedIn(file)
    .filter((name) => !names.includes(name))
    .sort();
  if (gone.length === 0) return;
  using client = sqsClient(sqsUrl);
  for (const name of gone)
    await deleteQueue(client, `${sqsUrl}/${awsAccount()}/${name}`, (messages) =>
      log(`deleted the queue ${name}, which is not defined any more${messages}`),
    );
  writeFileAtomically(file, JSON.stringify(names));
}

async function deleteQueue(client: SQSClient, url: string, deleted: (messages: string) => void): Promise<void> {
  try {
    const { visible, held } = await queueCounts(client, url);
    const messages = visible + held;
    await client.send(new DeleteQueueCommand({ QueueUrl: url }));
    deleted(messages === 0 ? '' : `, with ${messages} ${messages === 1 ? 'message' : 'messages'}`);
  } catch (error) {
    // Deleted already.
    if (!(error instanceof QueueDoesNotExist)) throw error;
  }
}
