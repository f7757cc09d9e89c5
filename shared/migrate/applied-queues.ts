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

/** The queues of triggers that no deployment makes: as those that it makes, with names by which rights are given. */
export interface AppliedQueues {
  /**
   * Makes them, or changes them to what the definition says. `isNew`: the trigger is none that there is. What its
   * queues still hold is of another one of its name: then they are deleted, and it is `unavailable` until they can be
   * made again.
   */
  make(datastore: string, definition: TriggerDefinition, isNew: boolean): Promise<DeployedTrigger>;
  /** Where they are; undefined where there are none, or but one of the two. */
  find(datastore: string, trigger: string): Promise<FoundQueues | undefined>;
  /** Deletes them, whatever is on them; whether they are there or not. */
  remove(datastore: string, trigger: string): Promise<void>;
}

export type FoundQueues = Pick<DeployedTrigger, 'queueUrl' | 'parkedQueueUrl'>;

/** That SQS takes in a name. */
const NAME_CHARACTERS = 80;
const MOST_NAME_CHARACTERS = 40;
const LONGEST_END = '-dead.fifo';

/** `schemaless-dev--shop-confirm_order-1f3a9c0b2d.fifo`: two names, cut, and the hash of both. */
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
    // The one that sends to the other first.
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
        const message = `the queues of a former trigger ${definition.name} of ${datastore} still held messages and were deleted; those of this one can only be made a minute later`;
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

/** The same of all of them, whatever their triggers say: a queue that is there is found by it. */
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
    const message = `the queue ${name} was deleted less than a minute ago, and can only be made again after that`;
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

/** About, as SQS counts: exact where nothing was sent or received for a minute. */
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

/** Over TLS alone, and nobody purges it: what it holds is not to be lost by a slip. */
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
