import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import { startService } from '../../../infra/local/emulators/start-service.ts';
import type { TriggerDefinition } from '../../../shared/definitions/definitions.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import { dynamoClient, newTable } from '../dynamo.ts';
import { startServers, throughEndpoints } from '../cluster.ts';
import type { RunWorld } from '../run-world.ts';
import { groupClient, PATIENT, type GroupAccess } from '../store-access.ts';
import { sqsClient, type TriggeredAccess } from './triggered-access.ts';

/** Real servers, a DynamoDB and an SQS that can be stopped, for several datastores with a trigger each. */
export type TriggerStage = Awaited<ReturnType<typeof startTriggerStage>>;

interface TriggeredRequest {
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
  { folder, engine: desired }: Pick<RunWorld, 'folder' | 'engine'>,
  { groups, readers, shards }: TriggerStageOptions,
) {
  await using parts = new AsyncDisposableStack();
  const {
    servers,
    groups: direct,
    engine,
  } = await startServers({ folder, engine: desired, groups, readers, shards, restartAfterSeconds: RESTART_SECONDS });
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
     * Makes a datastore with a trigger, and its own tables for topology and state: workers of others do not see it.
     */
    async define(datastore: string, { promotes = false }: TriggeredRequest = {}): Promise<TriggeredAccess> {
      const access = {
        groups: promotes ? throughEndpoints(servers) : direct,
        dynamo: dynamo.url,
        sqs: sqs.url,
        bufferCopies: 0,
      };
      const client = dynamoClient(dynamo.url);
      const [topologyTable, stateTable] = [await newTable(client), await newTable(client)];
      const parkedQueueUrl = await createQueue(sqs.url, `${datastore}-parked`);
      const queueUrl = await createQueue(sqs.url, datastore);
      const trigger = { definition: { ...DEFAULTS, name: TRIGGER }, queueUrl, parkedQueueUrl };
      const done = await migrate({
        topologyTable,
        connect: ({ name }) => groupClient(access.groups, name, PATIENT),
        desired: {
          groups: access.groups.map(({ user: _user, password: _password, ...address }) => address),
          datastores: [{ name: datastore, shards, indexes: [], triggers: [trigger] }],
        },
        mayGoOn: () => true,
      });
      client.destroy();
      if (!done) throw new Error(`${datastore} was not migrated`);
      return {
        ...access,
        topologyTable: topologyTable.table,
        stateTable: stateTable.table,
        datastore,
        trigger: TRIGGER,
        queueUrl,
        parkedQueueUrl,
      };
    },
    [Symbol.asyncDispose]: (): Promise<void> => kept.disposeAsync(),
  };
}

async function createQueue(url: string, name: string): Promise<string> {
  const client = sqsClient(url);
  const queue = `${name}-${randomUUID().slice(0, 8)}.fifo`;
  const Attributes = {
    FifoQueue: 'true',
    DeduplicationScope: 'messageGroup',
    FifoThroughputLimit: 'perMessageGroupId',
    VisibilityTimeout: String(VISIBILITY_SECONDS),
  };
  await client.send(new CreateQueueCommand({ QueueName: queue, Attributes })).finally(() => client.destroy());
  return `${url}/000000000000/${queue}`;
}
