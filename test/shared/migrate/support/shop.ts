import { randomBytes } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { ListQueuesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest';
import type { Definitions } from '../../../../shared/definitions/definitions.ts';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import { appliedQueues, type AppliedQueues } from '../../../../shared/migrate/applied-queues.ts';
import { definitionManagement, type DefinitionManagement } from '../../../../shared/migrate/definition-management.ts';
import { migrate } from '../../../../shared/migrate/migrate.ts';
import type { DesiredDatastore } from '../../../../shared/migrate/check-desired-state.ts';
import type { SqlClient } from '../../../../shared/sql/client.ts';
import { openDeployment, type Deployment } from '../../../../shared/store/deployment.ts';
import { dynamoTopology } from '../../../../shared/topology/dynamo-topology.ts';
import type { DeployedTrigger, GroupAddress } from '../../../../shared/topology/topology.ts';
import { sqsQueues } from '../../../../shared/triggers/state/queues.ts';
import { clientTo } from '../../../support/connection-to.ts';
import { dynamoClient, newTable } from '../../../support/dynamo.ts';
import { select } from '../../../support/plain-sql.ts';
import { startSqs } from '../../../support/sqs.ts';
import { PATIENT } from '../../../support/store-access.ts';
import { triggerNamed } from '../../../support/trigger-named.ts';

export const SEND = triggerNamed('send', { columns: ['BASE'] });

type Connect = (address: GroupAddress) => SqlClient;

/** Options of a test of defined datastores. */
export interface Managing {
  readonly connect?: Connect;
  readonly queues?: AppliedQueues;
  readonly stateTable?: DynamoTable;
  readonly workMs?: number;
}

export const groups: readonly GroupAddress[] = inject('servers').groups;
export const connect: Connect = (address) => clientTo(address, PATIENT);
export let sqs: Awaited<ReturnType<typeof startSqs>>;

/** Of the test that runs: a datastore's name that nothing has yet, tables of its own, and names of queues. */
export const shop = { name: '', environment: '' } as {
  name: string;
  environment: string;
  topologyTable: DynamoTable;
  stateTable: DynamoTable;
};
const instances: Deployment[] = [];

/** A shop for each test of the file that calls this. */
export function useShop(): void {
  beforeAll(async () => {
    sqs = await startSqs();
  });
  afterAll(() => sqs.stop());
  beforeEach(async () => {
    const client = dynamoClient(inject('servers').dynamo);
    const unique = randomBytes(3).toString('hex');
    const [topologyTable, stateTable] = [await newTable(client), await newTable(client)];
    Object.assign(shop, { name: `shop_${unique}`, environment: `t${unique}`, topologyTable, stateTable });
    await deploy();
  });
  afterEach(async () => {
    await Promise.all(instances.splice(0).map((deployment) => deployment.close()));
  });
}

export function deploy(datastores: readonly DesiredDatastore[] = [], among = groups): Promise<boolean> {
  const { topologyTable, stateTable } = shop;
  return migrate({ topologyTable, stateTable, connect, desired: { groups: among, datastores }, mayGoOn: () => true });
}

export const queuesNow = (): AppliedQueues => appliedQueues(sqs.client, shop.environment);

/** Returns the dependencies of the management. */
function parts(bufferCopies: number) {
  const { topologyTable, stateTable } = shop;
  const depths = sqsQueues(sqs.client);
  return {
    topologyTable,
    stateTable,
    connect,
    bufferCopies,
    queues: queuesNow(),
    depths,
    mostShards: 64,
    canSeal: true,
  };
}

/** @param bufferCopies of the deployment */
export function manageWith(bufferCopies: number, managing: Managing = {}): DefinitionManagement {
  return definitionManagement({ ...parts(bufferCopies), workMs: 60_000, ...managing });
}

/** An instance of a function, which knows what it has read and no more. */
export function instance(bufferCopies: number, between = connect): Deployment {
  const opened = openDeployment({ topology: topologyNow(), connect: between, bufferCopies });
  instances.push(opened);
  return opened;
}

export function desired(shards: number, more: Partial<DesiredDatastore> = {}): DesiredDatastore {
  return { name: shop.name, shards, indexes: [], triggers: [], ...more };
}

export function defined(shards: number, more: Partial<Definitions['datastores'][number]> = {}): Definitions {
  return { datastores: [{ name: shop.name, shards, indexes: [], triggers: [], ...more }] };
}

/** The trigger as a deployment brings it, with queues of its own. */
export function ownTrigger(): DeployedTrigger {
  return { definition: SEND, queueUrl: 'http://queue/own.fifo', parkedQueueUrl: 'http://queue/own-dead.fifo' };
}

export const topologyNow = () => dynamoTopology(shop.topologyTable);
export const triggersNow = (): Promise<readonly DeployedTrigger[]> => topologyNow().triggers(shop.name);
export const indexStates = async () =>
  (await topologyNow().indexes(shop.name)).map(({ name, versions }) => [
    name,
    versions.map(({ state }) => state).join(' '),
  ]);

/** One message, which waits. */
export async function sendMessage(queueUrl: string | undefined): Promise<void> {
  const message = { MessageBody: '{}', MessageGroupId: '0', MessageDeduplicationId: 'a' };
  await sqs.client.send(new SendMessageCommand({ QueueUrl: queueUrl, ...message }));
}

export async function queueNames(): Promise<readonly string[]> {
  const prefix = { QueueNamePrefix: `schemaless-${shop.environment}-` };
  return (await sqs.client.send(new ListQueuesCommand(prefix))).QueueUrls ?? [];
}

/** The databases that a group has of a datastore's shards. */
export async function databasesOn(group: GroupAddress, datastore: string): Promise<readonly string[]> {
  const server = connect(group);
  const sql = 'SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE ? ORDER BY 1';
  const rows = await select(server, sql, `${datastore.replaceAll('_', String.raw`\_`)}\\_%`);
  await server.close();
  return rows.map(([schema]) => String(schema));
}

export async function keysOf({ client, table }: DynamoTable): Promise<readonly string[]> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table }));
  return Items.map(({ pk }) => pk?.S ?? '');
}

export const applied = async (): Promise<readonly string[]> =>
  (await keysOf(shop.topologyTable)).filter((key) => key.startsWith('applied#'));
