import '../support/quiet.ts';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TriggerDefinition } from '../../../shared/definitions/definitions.ts';
import { writeTrigger } from '../../../shared/topology/trigger-catalogue.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { triggerStore } from '../../../shared/triggers/state/dynamo-trigger-store.ts';
import type { TriggerStore } from '../../../shared/triggers/state/trigger-store.ts';
import { DATASTORE, newQueue, TRIGGER, type Emulators } from '../../shared/triggers/consume/support/stage.ts';
import { fakeDeployment, type FakeDeployment } from './fake-deployment.ts';
import { gateway } from './gateway.ts';

/** A trigger as its function meets it: tables, a queue, an API, and an environment that names them. */
export interface DeployedForTest {
  readonly environment: Readonly<Record<string, string>>;
  readonly queueUrl: string;
  readonly topologyTable: DynamoTable;
  readonly store: TriggerStore;
  readonly deployment: FakeDeployment;
  close(): void;
}

export async function deployTrigger(
  emulators: Emulators,
  changes: Partial<TriggerDefinition> = {},
): Promise<DeployedForTest> {
  const [topologyTable, stateTable, queueUrl] = [
    await emulators.newTable(),
    await emulators.newTable(),
    await newQueue(emulators.sqs),
  ];
  const definition: TriggerDefinition = {
    name: TRIGGER,
    start: 'start',
    maxAttempts: 2,
    stopAfterParked: 100,
    timeoutSeconds: 5,
    ...changes,
  };
  await writeTrigger(topologyTable, DATASTORE, { definition, queueUrl, parkedQueueUrl: queueUrl });
  const deployment = fakeDeployment();
  const api = await serve(deployment);
  return {
    environment: {
      SCHEMALESS_ENVIRONMENT: 'local',
      SCHEMALESS_TOPOLOGY_TABLE: topologyTable.table,
      SCHEMALESS_STATE_TABLE: stateTable.table,
      SCHEMALESS_API_URL: api.url,
      SCHEMALESS_DATASTORE: DATASTORE,
      AWS_ENDPOINT_URL_DYNAMODB: emulators.dynamoUrl,
      AWS_ENDPOINT_URL_SQS: emulators.sqsUrl,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    },
    queueUrl,
    topologyTable,
    store: triggerStore(stateTable, { datastore: DATASTORE, trigger: TRIGGER }),
    deployment,
    close: api.close,
  };
}

async function serve(deployment: FakeDeployment): Promise<{ readonly url: string; close(): void }> {
  const answer = gateway(deployment);
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { status, headers, bytes } = await answer({
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      body: body === '' ? undefined : body,
    });
    response.writeHead(status, headers as Record<string, string>).end(bytes);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}
