import './quiet.ts';
import { randomUUID } from 'node:crypto';
import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { afterAll, afterEach, inject, vi } from 'vitest';
import { sqsEvent } from '../../../infra/local/event-sources/poll-queue.ts';
import { writeTrigger } from '../../../shared/topology/trigger-catalogue.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { triggerStore, type TriggerStore } from '../../../shared/triggers/state/dynamo-trigger-store.ts';
import { encodeMessage } from '../../../shared/triggers/state/queue-message.ts';
import { sqsQueues } from '../../../shared/triggers/state/queues.ts';
import { DATASTORE, messageOf, TRIGGER } from '../../shared/triggers/consume/support/stage.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { startSqs, type LocalSqs } from '../../support/sqs.ts';
import { triggerNamed } from '../../support/trigger-named.ts';
import { stubEnvironment } from '../../support/stub-environment.ts';
import { fakeDeployment, type FakeDeployment } from './fake-deployment.ts';
import { serveGateway } from './gateway.ts';

/** A trigger as its function meets it: tables, a queue, an API, and an environment that names them. */
interface Deployed {
  readonly environment: Readonly<Record<string, string>>;
  readonly queueUrl: string;
  readonly topologyTable: DynamoTable;
  readonly store: TriggerStore;
  readonly deployment: FakeDeployment;
  close(): void;
}

const DEFINITION = triggerNamed(TRIGGER, { maxAttempts: 2, timeoutSeconds: 5 });

/** A trigger that is deployed for the tests of a file, on its own emulators; what a test stubs ends with it. */
export async function triggerStage() {
  const sqs = await startSqs();
  let deployed = await deployTrigger(sqs);
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  afterAll(async () => {
    deployed.close();
    await sqs.stop();
  });
  return {
    sqs,
    get deployed(): Deployed {
      return deployed;
    },

    /** Redeploys it, with nothing sent or counted, and gives a test its environment. */
    async redeploy(): Promise<void> {
      deployed.close();
      deployed = await deployTrigger(sqs);
      stubEnvironment(deployed.environment);
    },

    stubEnvironment: (): void => stubEnvironment(deployed.environment),

    /** The trigger has another queue from now on. @returns its URL */
    async deployNextQueue(): Promise<string> {
      const queueUrl = await newQueue(sqs);
      const next = { definition: DEFINITION, queueUrl, parkedQueueUrl: queueUrl };
      await writeTrigger(deployed.topologyTable, DATASTORE, next);
      return queueUrl;
    },

    async send(shard: number, addedId: number, queueUrl = deployed.queueUrl): Promise<void> {
      await sqs.client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: encodeMessage(messageOf(shard, addedId)),
          MessageGroupId: String(shard),
          MessageDeduplicationId: randomUUID(),
        }),
      );
    },

    depth: (queueUrl = deployed.queueUrl): Promise<number> => sqsQueues(sqs.client).depth(queueUrl),

    /** The event that Lambda makes of one receive. */
    async nextEvent(): Promise<SQSEvent> {
      const { Messages = [] } = await sqs.client.send(
        new ReceiveMessageCommand({
          QueueUrl: deployed.queueUrl,
          MaxNumberOfMessages: 10,
          WaitTimeSeconds: 3,
          MessageSystemAttributeNames: ['All'],
        }),
      );
      return sqsEvent(Messages, 'arn:aws:sqs:us-east-1:000000000000:trips-bill_rider.fifo');
    },
  };
}

/** Hides messages for longer than a test lasts. */
const newQueue = (sqs: LocalSqs): Promise<string> => sqs.newQueue({ VisibilityTimeout: '1000' });

async function deployTrigger(sqs: LocalSqs): Promise<Deployed> {
  const { dynamo } = inject('servers');
  const dynamoDb = dynamoClient(dynamo);
  const [topologyTable, stateTable] = [await newTable(dynamoDb), await newTable(dynamoDb)];
  const queueUrl = await newQueue(sqs);
  await writeTrigger(topologyTable, DATASTORE, { definition: DEFINITION, queueUrl, parkedQueueUrl: queueUrl });
  const deployment = fakeDeployment();
  const api = await serveGateway(deployment);
  return {
    environment: {
      SCHEMALESS_ENVIRONMENT: 'local',
      SCHEMALESS_TOPOLOGY_TABLE: topologyTable.table,
      SCHEMALESS_STATE_TABLE: stateTable.table,
      SCHEMALESS_API_URL: api.url,
      SCHEMALESS_DATASTORE: DATASTORE,
      AWS_ENDPOINT_URL_DYNAMODB: dynamo,
      AWS_ENDPOINT_URL_SQS: sqs.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    },
    queueUrl,
    topologyTable,
    store: triggerStore(stateTable, { datastore: DATASTORE, trigger: TRIGGER }),
    deployment,
    close() {
      dynamoDb.destroy();
      api.close();
    },
  };
}
