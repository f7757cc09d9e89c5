import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { CreateQueueCommand, GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { startService } from '../../../infra/local/emulators/start-service.ts';
import type { TriggerDefinition } from '../../../shared/definitions/definitions.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import type { DeployedTrigger } from '../../../shared/topology/topology.ts';
import { dynamoClient, newTable } from '../dynamo.ts';
import { startServers, throughEndpoints } from '../cluster.ts';
import type { RunWorld } from '../run-world.ts';
import { groupClient, PATIENT, type GroupAccess } from '../store-access.ts';
import { sqsClient, type TriggeredAccess } from './triggered-access.ts';

/** Real servers, a DynamoDB and an SQS that can be away, for several datastores with a trigger each. */
export type TriggerStage = Awaited<ReturnType<typeof startTriggerStage>>;

interface TriggeredWish {
  /** Names of its triggers; the first is the one that is worked with. @default one */
  readonly triggers?: readonly string[] | undefined;
  readonly definition?: Partial<TriggerDefinition> | undefined;
  /** So many receipts move a message of its queue to the last one. @default it is never moved */
  readonly receipts?: number | undefined;
  /**
   * Reach the groups by their endpoints, which follow a promotion, and not straight: one event loop is between then.
   * @default false
   */
  readonly promotes?: boolean | undefined;
}

interface TriggerStageOptions {
  readonly groups: number;
  /** Of each group. */
  readonly readers: number;
  /** Of each datastore. */
  readonly shards: number;
}

const RESTART_SECONDS = 2;
const TRIGGER = 'bill_rider';
/** Longer than a call of a function in these runs takes; a consumer that was killed holds up its shards for so long. */
const VISIBILITY_SECONDS = 10;
const DEFAULTS: Omit<TriggerDefinition, 'name'> = {
  columns: ['BASE'],
  start: 'start',
  maxAttempts: 20,
  stopAfterParked: 100,
  timeoutSeconds: 5,
};

export async function startTriggerStage(
  { folder, engine: wish }: Pick<RunWorld, 'folder' | 'engine'>,
  { groups, readers, shards }: TriggerStageOptions,
) {
  await using parts = new AsyncDisposableStack();
  const {
    servers,
    groups: direct,
    engine,
  } = await startServers({ folder, engine: wish, groups, readers, shards, restartAfterSeconds: RESTART_SECONDS });
  parts.defer(() => servers.stop());
  const [dynamo, sqs] = [
    await startService('dynamodb', join(folder, 'dynamodb')),
    await startService('sqs', join(folder, 'sqs')),
  ];
  parts.defer(() => dynamo.close());
  parts.defer(() => sqs.close());
  const kept = parts.move();
  return {
    servers,
    /** Reached straight. */
    groups: direct as readonly GroupAccess[],
    dynamo,
    sqs,
    engine,
    folder,
    shards,
    /**
     * Makes a datastore with a trigger, and tables of its own for topology and state: workers of others do not see it.
     */
    async define(
      datastore: string,
      { definition: wished, receipts, promotes = false, triggers: names = [TRIGGER] }: TriggeredWish = {},
    ): Promise<TriggeredAccess> {
      const access = {
        groups: promotes ? throughEndpoints(servers) : direct,
        dynamo: dynamo.url,
        sqs: sqs.url,
        bufferCopies: 0,
      };
      const client = dynamoClient(dynamo.url);
      const [topologyTable, stateTable] = [await newTable(client), await newTable(client)];
      const triggers: DeployedTrigger[] = [];
      for (const name of names) {
        const parkedQueueUrl = await createQueue(sqs.url, `${datastore}-parked`);
        const queueUrl = await createQueue(
          sqs.url,
          datastore,
          receipts === undefined
            ? {}
            : {
                RedrivePolicy: JSON.stringify({
                  deadLetterTargetArn: await arnOf(sqs.url, parkedQueueUrl),
                  maxReceiveCount: receipts,
                }),
              },
        );
        triggers.push({ definition: { ...DEFAULTS, ...wished, name }, queueUrl, parkedQueueUrl });
      }
      const done = await migrate({
        topologyTable,
        connect: ({ name }) => groupClient(access.groups, name, PATIENT),
        wish: {
          groups: access.groups.map(({ user: _user, password: _password, ...address }) => address),
          datastores: [{ name: datastore, shards, indexes: [], triggers }],
        },
        mayGoOn: () => true,
      });
      client.destroy();
      if (!done) throw new Error(`${datastore} was not migrated`);
      const [first] = triggers;
      if (!first) throw new Error('no trigger');
      return {
        ...access,
        topologyTable: topologyTable.table,
        stateTable: stateTable.table,
        datastore,
        trigger: first.definition.name,
        queueUrl: first.queueUrl,
        parkedQueueUrl: first.parkedQueueUrl,
      };
    },
    [Symbol.asyncDispose]: (): Promise<void> => kept.disposeAsync(),
  };
}

async function arnOf(url: string, queueUrl: string): Promise<string> {
  const client = sqsClient(url);
  try {
    return (
      (await client.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['QueueArn'] })))
        .Attributes?.['QueueArn'] ?? ''
    );
  } finally {
    client.destroy();
  }
}

async function createQueue(url: string, name: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const client = sqsClient(url);
  const queue = `${name}-${randomUUID().slice(0, 8)}.fifo`;
  const Attributes = {
    FifoQueue: 'true',
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
    VisibilityTimeout: String(VISIBILITY_SECONDS),
    ...more,
  };
  try {
    await client.send(new CreateQueueCommand({ QueueName: queue, Attributes }));
  } finally {
    client.destroy();
  }
  return `${url}/000000000000/${queue}`;
}
