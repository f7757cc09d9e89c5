import { join } from 'node:path';
import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import { sqsQueues } from '../../../shared/triggers/send/sqs-queues.ts';
import type { DeployedTrigger } from '../../../shared/topology/topology.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import { dynamoClient } from '../../support/dynamo.ts';
import { createStore, startServers } from '../../support/cluster.ts';
import { startProcess, type KillableProcess } from '../../support/processes/killable-process.ts';
import { DATASTORE, groupClient, PATIENT } from '../../support/store-access.ts';
import { sqsClient, type TriggeredAccess } from '../../support/triggers/triggered-access.ts';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import type { BenchWorld } from '../bench.ts';
import type { SqsInput, SqsProgress } from './sqs-process.ts';

/** Real servers with a datastore, and an SQS in a process of its own. */
export interface BacklogStage extends AsyncDisposable {
  readonly servers: ShardGroups;
  /** "MariaDB 10.11.6" */
  readonly engine: string;
  readonly access: TriggeredAccess;
  readonly sqs: KillableProcess<SqsProgress>;
  /** Gives the datastore its trigger, which nobody tails yet. */
  deployTrigger(): Promise<void>;
  /** How many messages the trigger's queue holds. */
  depth(): Promise<number>;
}

const GROUPS = 3;
const QUEUE = 'backlog.fifo';
const ATTRIBUTES = { FifoQueue: 'true', DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' };

export async function startBacklogStage(
  { folder, engine: wish }: Pick<BenchWorld, 'folder' | 'engine'>,
  shards: number,
): Promise<BacklogStage> {
  await using parts = new AsyncDisposableStack();
  const { servers, groups, engine } = await startServers({ folder, engine: wish, groups: GROUPS, readers: 1, shards });
  parts.defer(() => servers.stop());
  const { access: store } = parts.use(await createStore(groups, { shards, bufferCopies: 0 }));
  const sqs = parts.use(
    startProcess<SqsInput, SqsProgress>(new URL('sqs-process.ts', import.meta.url), folder, {
      folder: join(folder, 'sqs'),
    }),
  );
  await sqs.ready;
  const url = sqs.progress?.url ?? '';
  const queueUrl = `${url}/000000000000/${QUEUE}`;
  const client = sqsClient(url);
  parts.defer(async () => client.destroy());
  await client.send(new CreateQueueCommand({ QueueName: QUEUE, Attributes: ATTRIBUTES }));
  const trigger: DeployedTrigger = {
    definition: { name: 'backlog', start: 'start', maxAttempts: 5, stopAfterParked: 100, timeoutSeconds: 5 },
    queueUrl,
    parkedQueueUrl: queueUrl,
  };
  const kept = parts.move();
  return {
    servers,
    engine,
    access: {
      ...store,
      datastore: DATASTORE,
      sqs: url,
      trigger: trigger.definition.name,
      queueUrl,
      parkedQueueUrl: queueUrl,
    },
    sqs,
    async deployTrigger() {
      const dynamo = dynamoClient(store.dynamo);
      const wished = {
        groups: groups.map(({ user: _user, password: _password, ...address }) => address),
        datastores: [{ name: DATASTORE, shards, indexes: [], triggers: [trigger] }],
      };
      await migrate({
        topologyTable: { client: dynamo, table: store.topologyTable },
        connect: ({ name }) => groupClient(groups, name, PATIENT),
        wish: wished,
        mayGoOn: () => true,
      });
      dynamo.destroy();
    },
    depth: () => sqsQueues(client).depth(queueUrl),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
