import { hash } from 'node:crypto';
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  QueueDoesNotExist,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { TriggerDefinition } from '../definitions/definitions.ts';
import { SchemalessError } from '../errors.ts';
import { appliedQueuePrefix } from '../granted-names.ts';
import type { DeployedTrigger } from '../topology/topology.ts';
import { hiddenSeconds, mostReceipts, RETENTION_MS } from '../triggers/state/queue-limits.ts';

/** The queues of triggers applied through the API: like a deployment's, with a name prefix that IAM policies grant. */
export interface AppliedQueues {
  /**
   * Creates the queues, or updates them to the definition. `isNew`: the trigger does not exist yet. Messages in its
   * queues are then of a former trigger of this name: deletes the queues, and throws `unavailable` until SQS allows
   * creating them.
   */
  make(datastore: string, definition: TriggerDefinition, isNew: boolean): Promise<DeployedTrigger>;
  /** Finds both queues; returns undefined if either is missing. */
  find(datastore: string, trigger: string): Promise<FoundQueues | undefined>;
  /** Deletes the queues, if they exist, with all their messages. */
  remove(datastore: string, trigger: string): Promise<void>;
}

export type FoundQueues = Pick<DeployedTrigger, 'queueUrl' | 'parkedQueueUrl'>;

/** The most characters that SQS accepts in a name. */
const NAME_CHARACTERS = 80;
const MOST_NAME_CHARACTERS = 40;
const LONGEST_END = '-dead.fifo';

/** Returns `schemaless-dev--shop-confirm_order-1f3a9c0b2d.fifo`: two names, truncated, and a hash of both. */
export function appliedQueueName(environment: string, datastore: string, trigger: string, end: '' | '-dead'): string {
  const prefix = appliedQueuePrefix(environment);
  const names = `${datastore}-${trigger}`;
  const digest = `-${hash('sha256', names, 'hex').slice(0, 10)}`;
  const room = NAME_CHARACTERS - prefix.length - digest.length - LONGEST_END.length;
  return `${prefix}${names.slice(0, Math.min(room, MOST_NAME_CHARACTERS))}${digest}${end}.fifo`;
}

export function appliedQueues(client: SQSClient, environment: string): AppliedQueues {
  const nameOf = (datastore: string, trigger: string, end: '' | '-dead'): string =>
    appliedQueueName(environment, datastore, trigger, end);
  const find = async (datastore: string, trigger: string): Promise<FoundQueues | undefined> => {
    const queueUrl = await findQueue(client, nameOf(datastore, trigger, ''));
    const parkedQueueUrl = await findQueue(client, nameOf(datastore, trigger, '-dead'));
    return queueUrl === undefined || parkedQueueUrl === undefined ? undefined : { queueUrl, parkedQueueUrl };
  };
  const remove = async (datastore: string, trigger: string): Promise<void> => {
    // First the queue that sends to the other.
    for (const end of ['', '-dead'] as const) await removeQueue(client, nameOf(datastore, trigger, end));
  };
  return {
    find,
    remove,
    async make(datastore, definition, isNew) {
      const before = isNew ? await find(datastore, definition.name) : undefined;
      for (const url of before ? [before.queueUrl, before.parkedQueueUrl] : []) {
        if (!(await holdsMessages(client, url))) continue;
        await remove(datastore, definition.name);
        const message = `the queues of a former trigger ${definition.name} of ${datastore} still held messages and were deleted: retry in a minute, when SQS allows these names again`;
        throw new SchemalessError('unavailable', message);
      }
      const dead = await makeQueue(client, nameOf(datastore, definition.name, '-dead'), {});
      const queue = await makeQueue(client, nameOf(datastore, definition.name, ''), {
        VisibilityTimeout: String(hiddenSeconds(definition)),
        RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount: mostReceipts(definition) }),
      });
      return { definition, queueUrl: queue.url, parkedQueueUrl: dead.url };
    },
  };
}

/** The attributes of every queue, whatever its trigger: with equal ones, SQS returns an existing queue. */
const ALWAYS = {
  FifoQueue: 'true',
  // High throughput: the limits are for each shard, not for the queue.
  DeduplicationScope: 'messageGroup',
  FifoThroughputLimit: 'perMessageGroupId',
  MessageRetentionPeriod: String(RETENTION_MS / 1000),
  SqsManagedSseEnabled: 'true',
};

async function makeQueue(
  client: SQSClient,
  name: string,
  more: Readonly<Record<string, string>>,
): Promise<{ readonly url: string; readonly arn: string }> {
  const url = await urlOf(client, name);
  const { Attributes: { QueueArn: arn = '' } = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn'] }),
  );
  await client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { ...more, Policy: policyOf(arn) } }));
  return { url, arn };
}

async function urlOf(client: SQSClient, name: string): Promise<string> {
  try {
    const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: ALWAYS }));
    return QueueUrl;
  } catch (cause) {
    if (!(cause instanceof Error && /QueueDeletedRecently/u.test(cause.name))) throw cause;
    const message = `the queue ${name} was deleted less than a minute ago: retry when SQS allows this name again`;
    throw new SchemalessError('unavailable', message, { cause });
  }
}

async function findQueue(client: SQSClient, name: string): Promise<string | undefined> {
  try {
    return (await client.send(new GetQueueUrlCommand({ QueueName: name }))).QueueUrl;
  } catch (error) {
    if (!(error instanceof QueueDoesNotExist)) throw error;
    return undefined;
  }
}

/** Returns whether SQS counts messages: exact if none was sent or received for a minute. */
async function holdsMessages(client: SQSClient, url: string): Promise<boolean> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return Object.values(Attributes).some((count) => Number(count) > 0);
}

async function removeQueue(client: SQSClient, name: string): Promise<void> {
  const url = await findQueue(client, name);
  try {
    if (url !== undefined) await client.send(new DeleteQueueCommand({ QueueUrl: url }));
  } catch (error) {
    if (!(error instanceof QueueDoesNotExist)) throw error;
  }
}

/** Returns a policy that requires TLS and denies purges, so that no slip loses messages. */
function policyOf(arn: string): string {
  const deny = (Action: string, Condition?: object): object => ({
    Effect: 'Deny',
    Principal: '*',
    Action,
    Resource: arn,
    ...(Condition && { Condition }),
  });
  const statements = [deny('sqs:PurgeQueue'), deny('sqs:*', { Bool: { 'aws:SecureTransport': 'false' } })];
  return JSON.stringify({ Version: '2012-10-17', Statement: statements });
}
