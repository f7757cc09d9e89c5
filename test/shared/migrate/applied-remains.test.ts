import { randomBytes, randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { ListQueuesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { IndexDefinition, TriggerDefinition } from '../../../shared/definitions/definitions.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { appliedQueues, type AppliedQueues } from '../../../shared/migrate/applied-queues.ts';
import { definitionManagement, type DefinitionManagement } from '../../../shared/migrate/definition-management.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import type { WishedDatastore } from '../../../shared/migrate/migration-wish.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import { sqsTriggerQueues } from '../../../shared/triggers/state/sqs-trigger-queues.ts';
import { errorOf } from '../../support/datastore-conformance.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { startSqs, type LocalSqs } from '../../support/sqs.ts';
import { PATIENT } from '../../support/store-access.ts';

/** Databases are made and dropped by the dozen. */
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const SHARDS = 3;
const BY_BUYER: IndexDefinition = {
  name: 'by_buyer',
  fields: [{ field: 'buyer', type: 'UUID', column_key: 'BASE' }],
  keys: [],
};
const SEND: TriggerDefinition = {
  name: 'send',
  columns: ['BASE'],
  start: 'start',
  maxAttempts: 5,
  stopAfterParked: 100,
  timeoutSeconds: 30,
};
const { dynamo } = inject('servers');
const groups: readonly GroupAddress[] = inject('servers').groups;
let sqs: LocalSqs;
let topologyTable: DynamoTable;
let stateTable: DynamoTable;
let environment: string;
let name: string;

beforeAll(async () => {
  sqs = await startSqs();
});
beforeEach(async () => {
  topologyTable = await newTable(dynamoClient(dynamo));
  stateTable = await newTable(dynamoClient(dynamo));
  environment = `t${randomBytes(3).toString('hex')}`;
  name = `shop_${randomBytes(3).toString('hex')}`;
  await deploy();
});
afterAll(() => sqs.stop());

function connect(address: GroupAddress): SqlClient {
  const group = inject('servers').groups.find((one) => one.name === address.name);
  return mysqlClient(address, async () => ({ username: group?.user ?? '', password: group?.password ?? '' }), PATIENT);
}

const deploy = (datastores: readonly WishedDatastore[] = [], among = groups): Promise<boolean> =>
  migrate({ topologyTable, stateTable, connect, wish: { groups: among, datastores }, mayGoOn: () => true });

function manage(
  queues: AppliedQueues = appliedQueues(sqs.client, environment),
  between: (address: GroupAddress) => SqlClient = connect,
): DefinitionManagement {
  return definitionManagement({
    topologyTable,
    stateTable,
    owner: randomUUID(),
    connect: between,
    bufferCopies: 0,
    queues,
    depths: sqsTriggerQueues(sqs.client),
    mostShards: 64,
    workMs: 60_000,
  });
}

const shop = () => ({ datastores: [{ name, shards: SHARDS, indexes: [BY_BUYER], triggers: [SEND] }] });

async function queueNames(): Promise<readonly string[]> {
  const { QueueUrls = [] } = await sqs.client.send(
    new ListQueuesCommand({ QueueNamePrefix: `schemaless-${environment}--` }),
  );
  return QueueUrls;
}

async function applied(): Promise<readonly string[]> {
  const { Items = [] } = await topologyTable.client.send(new ScanCommand({ TableName: topologyTable.table }));
  return Items.map(({ pk }) => pk?.S ?? '').filter((key) => key.startsWith('applied#'));
}

describe('what was applied and never made', () => {
  /** SQS makes no queue of a name that was deleted less than a minute ago. */
  const withoutQueues = (): AppliedQueues => ({
    ...appliedQueues(sqs.client, environment),
    make: () => Promise.reject(new SchemalessError('unavailable', 'the queue was deleted less than a minute ago')),
  });

  it('is deleted all the same: no deployment makes a datastore that its caller gave up', async () => {
    expect(await errorOf(() => manage(withoutQueues()).apply(shop(), false))).toMatchObject({ code: 'unavailable' });
    const how = { confirm: name };
    expect(await manage().deleteDatastore(name, { ...how, dry_run: true })).toMatchObject({ done: false });
    expect(await manage().deleteDatastore(name, how)).toMatchObject({ done: true, shards: SHARDS, lost: null });
    expect(await applied()).toEqual([]);
    await deploy();
    expect(await dynamoTopology(topologyTable).datastores()).toEqual([]);
    expect(await errorOf(() => manage().deleteDatastore(name, how))).toMatchObject({ code: 'unknown_datastore' });
  });

  it('is deleted all the same: an index, and a trigger of which only the queues are there', async () => {
    await deploy([{ name, shards: SHARDS, indexes: [], triggers: [] }]);
    expect(await errorOf(() => manage(withoutQueues()).apply(shop(), false))).toMatchObject({ code: 'unavailable' });
    await manage().deleteIndex(name, 'by_buyer', { confirm: 'by_buyer' });
    expect(await applied()).toEqual([]);
    await appliedQueues(sqs.client, environment).make(name, SEND, true);
    await manage().deleteTrigger(name, 'send', { confirm: 'send' });
    expect(await queueNames()).toEqual([]);
    expect(await errorOf(() => manage().deleteTrigger(name, 'send', { confirm: 'send' }))).toMatchObject({
      code: 'unknown_trigger',
    });
  });
});

describe('a trigger that was applied', () => {
  it('goes on when the deployment does not define its datastore any more, and can be deleted', async () => {
    await deploy([{ name, shards: SHARDS, indexes: [], triggers: [] }]);
    await manage().apply({ datastores: [{ name, shards: SHARDS, indexes: [], triggers: [SEND] }] }, false);
    await deploy();
    expect((await dynamoTopology(topologyTable).triggers(name)).map(({ definition }) => definition)).toEqual([SEND]);
    await manage().deleteTrigger(name, 'send', { confirm: 'send' });
    expect([await applied(), await queueNames()]).toEqual([[], []]);
  });

  it('gets nothing of what one of its name left on its queues', async () => {
    await manage().apply(shop(), false);
    const [trigger] = await dynamoTopology(topologyTable).triggers(name);
    await sqs.client.send(
      new SendMessageCommand({
        QueueUrl: trigger?.queueUrl,
        MessageBody: '{}',
        MessageGroupId: '0',
        MessageDeduplicationId: 'a',
      }),
    );
    const own = { definition: SEND, queueUrl: 'http://queue/own.fifo', parkedQueueUrl: 'http://queue/own-dead.fifo' };
    const defining = { name, shards: SHARDS, indexes: [BY_BUYER], triggers: [own] };
    await deploy([defining]);
    await deploy([defining, { name: `${name}_other`, shards: 1, indexes: [], triggers: [] }]);
    await deploy([{ ...defining, triggers: [] }]);
    expect(await dynamoTopology(topologyTable).triggers(name)).toEqual([]);
    expect(await errorOf(() => manage().apply(shop(), false))).toMatchObject({ code: 'unavailable', retry: 'later' });
    expect(await queueNames()).toEqual([]);
  });
});

describe('a deployment', () => {
  it('without a group that owns shards of what was applied is refused', async () => {
    await manage().apply(shop(), false);
    const [gone, ...others] = groups;
    await expect(deploy([], others)).rejects.toThrow(`wanted ${gone?.name} among them, which owns shards of ${name}`);
    expect(await dynamoTopology(topologyTable).groups()).toHaveLength(groups.length);
  });

  it('makes nothing anew of what was applied and is being deleted', async () => {
    await manage().apply(shop(), false);
    const dying = manage(undefined, (group) => {
      const client = connect(group);
      return {
        ...client,
        change: async (statement) => {
          if (statement.sql.startsWith('DELETE FROM `schemaless`.shard')) throw new Error('died');
          return client.change(statement);
        },
      };
    });
    await expect(dying.deleteDatastore(name, { confirm: name, force: true })).rejects.toThrow('died');
    expect(await deploy()).toBe(true);
    expect(await dynamoTopology(topologyTable).datastores()).toEqual([]);
    expect(await manage().deleteDatastore(name, { confirm: name })).toMatchObject({ done: true });
    expect([await applied(), await queueNames()]).toEqual([[], []]);
  });

  it('defines what its migration was told, whatever function is asked to change it', async () => {
    const own = { definition: SEND, queueUrl: 'http://queue/own.fifo', parkedQueueUrl: 'http://queue/own-dead.fifo' };
    await deploy([{ name, shards: SHARDS, indexes: [BY_BUYER], triggers: [own] }]);
    const refused = { code: 'still_defined' };
    const force = true;
    expect(await errorOf(() => manage().deleteDatastore(name, { confirm: name, force }))).toMatchObject(refused);
    expect(await errorOf(() => manage().deleteIndex(name, 'by_buyer', { confirm: 'by_buyer' }))).toMatchObject(refused);
    expect(await errorOf(() => manage().deleteTrigger(name, 'send', { confirm: 'send', force }))).toMatchObject(
      refused,
    );
    await deploy();
    expect(await manage().deleteDatastore(name, { confirm: name })).toMatchObject({ done: true });
  });

  it('that no migration has told of yet is waited for', async () => {
    topologyTable = await newTable(dynamoClient(dynamo));
    expect(await errorOf(() => manage().apply(shop(), false))).toMatchObject({ code: 'unavailable' });
  });
});
