import { randomBytes, randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { ListQueuesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { Definitions, IndexDefinition, TriggerDefinition } from '../../../shared/definitions/definitions.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { appliedQueues } from '../../../shared/migrate/applied-queues.ts';
import { definitionManagement, type DefinitionManagement } from '../../../shared/migrate/definition-management.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import type { WishedDatastore } from '../../../shared/migrate/migration-wish.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';
import { openDeployment, type Deployment } from '../../../shared/store/deployment.ts';
import { writeDeployed } from '../../../shared/topology/deployed-definitions.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import type { DeployedTrigger, GroupAddress } from '../../../shared/topology/topology.ts';
import { sqsTriggerQueues } from '../../../shared/triggers/state/sqs-trigger-queues.ts';
import { triggerStore } from '../../../shared/triggers/state/dynamo-trigger-store.ts';
import { openFollower } from '../../../shared/follow/follower-item.ts';
import { triggerFollower } from '../../../shared/triggers/state/follower-name.ts';
import { cellOf, errorOf } from '../../support/datastore-conformance.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { startSqs, type LocalSqs } from '../../support/sqs.ts';
import { PATIENT } from '../../support/store-access.ts';

/** Databases are made and dropped by the dozen. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const BY_BUYER: IndexDefinition = {
  name: 'by_buyer',
  fields: [
    { field: 'buyer', type: 'UUID', column_key: 'BASE' },
    { field: 'total', type: 'number', column_key: 'BASE' },
  ],
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
const SHARDS = 6;

const { dynamo } = inject('servers');
const groups: readonly GroupAddress[] = inject('servers').groups;
let sqs: LocalSqs;
let topologyTable: DynamoTable;
let stateTable: DynamoTable;
let environment: string;
let name: string;
const deployments: Deployment[] = [];

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
afterAll(async () => {
  await Promise.all(deployments.map((deployment) => deployment.close()));
  await sqs.stop();
});

function connect(address: GroupAddress) {
  const group = inject('servers').groups.find((one) => one.name === address.name);
  return mysqlClient(address, async () => ({ username: group?.user ?? '', password: group?.password ?? '' }), PATIENT);
}

const deploy = (datastores: readonly WishedDatastore[] = [], mayGoOn = () => true): Promise<boolean> =>
  migrate({ topologyTable, stateTable, connect, wish: { groups, datastores }, mayGoOn });

function manage(): DefinitionManagement {
  return definitionManagement({
    topologyTable,
    stateTable,
    owner: randomUUID(),
    connect,
    bufferCopies: 0,
    queues: appliedQueues(sqs.client, environment),
    depths: sqsTriggerQueues(sqs.client),
    mostShards: 64,
    workMs: 60_000,
  });
}

/** The same where a deployment defines something, whether it has made it yet or not. */
async function manageBeside(deployed: Definitions): Promise<DefinitionManagement> {
  await writeDeployed(topologyTable, deployed);
  return manage();
}

/** An instance of a function, which knows what it has read and no more. */
function instance(): Deployment {
  const opened = openDeployment({ topology: dynamoTopology(topologyTable), connect, bufferCopies: 0 });
  deployments.push(opened);
  return opened;
}

const shop = (more: Partial<Definitions['datastores'][number]> = {}): Definitions => ({
  datastores: [{ name, shards: SHARDS, indexes: [BY_BUYER], triggers: [SEND], ...more }],
});
const row = (): string => randomUUID();
const buyer = '5d2c8a17-9e4b-4f36-a1d8-7c0e6b3f2a94';
const put = async (deployment: Deployment, body = { buyer, total: 1 }) =>
  (await deployment.datastore(name)).put(cellOf({ row_key: row(), body }));
const triggersNow = (): Promise<readonly DeployedTrigger[]> => dynamoTopology(topologyTable).triggers(name);

async function queueNames(): Promise<readonly string[]> {
  const { QueueUrls = [] } = await sqs.client.send(
    new ListQueuesCommand({ QueueNamePrefix: `schemaless-${environment}-` }),
  );
  return QueueUrls;
}

async function databases(): Promise<number> {
  const pattern = `${name.replaceAll('_', String.raw`\_`)}\\_%`;
  const sql = 'SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE ?';
  const counts = await Promise.all(
    groups.map(async (group) => {
      const client = connect(group);
      const [[count] = []] = await client.select({ sql, parameters: [pattern] }, 'writer');
      await client.close();
      return Number(count);
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** What mentions the datastore in both tables. */
async function left(): Promise<readonly string[]> {
  const items = await Promise.all(
    [topologyTable, stateTable].map(async ({ client, table }) => {
      const { Items = [] } = await client.send(new ScanCommand({ TableName: table }));
      return Items.map(({ pk }) => pk?.S ?? '').filter((key) => key.includes(name));
    }),
  );
  return items.flat().sort();
}

describe('applied definitions', () => {
  it('make a datastore that running instances write to, read and query at once', async () => {
    const running = instance();
    expect(await errorOf(() => running.datastore(name))).toMatchObject({ code: 'unknown_datastore' });
    const outcome = await manage().apply(shop(), false);
    expect(outcome).toEqual({
      done: true,
      dry_run: false,
      changes: [
        { kind: 'datastore', datastore: name, name, change: 'create', shards: SHARDS },
        { kind: 'index', datastore: name, name: 'by_buyer', change: 'create' },
        { kind: 'trigger', datastore: name, name: 'send', change: 'create' },
      ],
    });
    const other = instance();
    expect(await put(other)).toMatchObject({ outcome: 'stored' });
    const { entries } = await (
      await other.datastore(name)
    ).query({
      index: 'by_buyer',
      where: [{ field: 'buyer', operator: 'eq', values: [buyer] }],
    });
    expect(entries).toHaveLength(1);
    const [trigger] = await triggersNow();
    expect(trigger?.definition).toEqual(SEND);
    await sqs.client.send(
      new SendMessageCommand({
        QueueUrl: trigger?.queueUrl,
        MessageBody: '{}',
        MessageGroupId: '0',
        MessageDeduplicationId: 'a',
      }),
    );
    expect(await sqsTriggerQueues(sqs.client).depth(trigger?.queueUrl ?? '')).toBe(1);
  });

  it('can be repeated, and say then that nothing is to be done', async () => {
    await manage().apply(shop(), false);
    const { changes } = await manage().apply(shop(), false);
    expect(new Set(changes.map(({ change }) => change))).toEqual(new Set(['none']));
    expect(await queueNames()).toHaveLength(2);
  });

  it('of a dry run change nothing', async () => {
    const before = await left();
    const { changes, done } = await manage().apply(shop(), true);
    expect([done, changes.map(({ change }) => change)]).toEqual([false, ['create', 'create', 'create']]);
    expect([await left(), await databases(), await queueNames()]).toEqual([before, 0, []]);
  });

  it('add to what is there, and leave what they do not name', async () => {
    await manage().apply(shop(), false);
    const byTotal = { ...BY_BUYER, name: 'by_total' };
    const changed = { ...SEND, maxAttempts: 7, timeoutSeconds: 60 };
    const { changes } = await manage().apply(shop({ indexes: [byTotal], triggers: [changed] }), false);
    expect(changes.map(({ name: of, change }) => [of, change])).toEqual([
      [name, 'none'],
      ['by_total', 'create'],
      ['send', 'change'],
    ]);
    const indexes = await dynamoTopology(topologyTable).indexes(name);
    expect(indexes.map((index) => [index.name, index.versions[0]?.state])).toEqual([
      ['by_buyer', 'live'],
      ['by_total', 'building'],
    ]);
    expect((await triggersNow()).map(({ definition }) => definition)).toEqual([changed]);
  });

  it('that cannot be had are refused with all reasons, and nothing is changed', async () => {
    await manage().apply(shop(), false);
    const before = await left();
    const wished = shop({
      shards: SHARDS + 1,
      indexes: [
        { ...BY_BUYER, fields: [{ field: 'buyer', type: 'string', column_key: 'BASE' }] },
        { ...BY_BUYER, name: 'fine' },
      ],
      triggers: [
        { ...SEND, start: 'now' },
        { ...SEND, name: 'call', function: 'functions/call.ts' },
      ],
    });
    for (const dryRun of [true, false]) {
      const error = await errorOf(() => manage().apply(wished, dryRun));
      expect(error).toMatchObject({ code: 'fixed_definition', status: 409, retry: 'never' });
      const problems = error.details.more?.['problems'] as readonly Record<string, string>[];
      expect(problems.map((problem) => [problem['kind'], problem['field'], problem['wanted'], problem['got']])).toEqual(
        [
          ['datastore', 'shards', String(SHARDS), String(SHARDS + 1)],
          ['index', 'buyer.type', 'UUID', 'string'],
          ['trigger', 'start', 'start', 'now'],
          ['trigger', 'function', 'nothing', 'functions/call.ts'],
        ],
      );
    }
    expect(await left()).toEqual(before);
  });

  it('of what the deployment defines are its own to change', async () => {
    const deployed = shop({ triggers: [] });
    await deploy([{ name, shards: SHARDS, indexes: [BY_BUYER], triggers: [] }]);
    const same = await (await manageBeside(deployed)).apply(deployed, false);
    expect(same.changes.map(({ change }) => change)).toEqual(['none', 'none']);
    const other = shop({ indexes: [{ ...BY_BUYER, keys: [['buyer', 'total']] }], triggers: [] });
    expect(await errorOf(() => manage().apply(other, false))).toMatchObject({
      code: 'fixed_definition',
      details: { field: 'keys' },
    });
    expect((await manage().apply(shop(), false)).done).toBe(true);
    expect(await triggersNow()).toHaveLength(1);
  });

  it('outlive deployments that know nothing of them, until those define them', async () => {
    await manage().apply(shop(), false);
    expect(await deploy([{ name: `${name}_other`, shards: 1, indexes: [], triggers: [] }])).toBe(true);
    expect(await triggersNow()).toHaveLength(1);
    expect(await put(instance())).toMatchObject({ outcome: 'stored' });
    await deploy([{ name, shards: SHARDS, indexes: [], triggers: [] }]);
    expect(await triggersNow()).toHaveLength(1);
    expect((await dynamoTopology(topologyTable).indexes(name))[0]?.versions[0]?.state).toBe('live');
    expect((await left()).filter((key) => key.startsWith('applied#')).length).toBe(3);
    const queueUrl = 'http://queue/own.fifo';
    const defining = {
      name,
      shards: SHARDS,
      indexes: [BY_BUYER],
      triggers: [{ definition: SEND, queueUrl, parkedQueueUrl: queueUrl }],
    };
    // The same one may be done again and again; the next that defines them, too, is not to be taken back any more.
    for (let round = 0; round < 2; round += 1) {
      await deploy([defining]);
      expect((await triggersNow()).map((trigger) => trigger.queueUrl)).toEqual([queueUrl]);
      expect((await left()).filter((key) => key.startsWith('applied#')).length).toBe(2);
    }
    await deploy([defining, { name: `${name}_other`, shards: 1, indexes: [], triggers: [] }]);
    expect((await left()).filter((key) => key.startsWith('applied#'))).toEqual([]);
    expect((await triggersNow()).map((trigger) => trigger.queueUrl)).toEqual([queueUrl]);
  });

  it('outlive a deployment that defines them and is rolled back', async () => {
    const before = { name, shards: SHARDS, indexes: [], triggers: [] };
    await deploy([before]);
    await manage().apply(shop(), false);
    const [applied] = await triggersNow();
    const queueUrl = 'http://queue/own.fifo';
    await deploy([
      { ...before, indexes: [BY_BUYER], triggers: [{ definition: SEND, queueUrl, parkedQueueUrl: queueUrl }] },
    ]);
    await deploy([before]);
    expect(await triggersNow()).toEqual([applied]);
    const [index] = await dynamoTopology(topologyTable).indexes(name);
    expect(index?.versions.map(({ state }) => state)).toEqual(['building']);
    await deploy([before]);
    expect(await triggersNow()).toEqual([applied]);
  });

  it('of a datastore that a deployment does not define any more go on', async () => {
    await deploy([{ name, shards: SHARDS, indexes: [], triggers: [] }]);
    await manage().apply(shop({ indexes: [] }), false);
    await deploy();
    expect((await triggersNow()).map(({ definition }) => definition)).toEqual([SEND]);
    await manage().deleteTrigger(name, 'send', { confirm: 'send' });
    expect([await triggersNow(), await queueNames()]).toEqual([[], []]);
  });

  it('cut off are finished by a repetition', async () => {
    // After so many statements, which is in the middle of users, databases and tables.
    for (const most of [3, 8, 14, 20]) await expect(dying(most).apply(shop(), false)).rejects.toThrow('died');
    expect((await manage().apply(shop(), false)).done).toBe(true);
    expect([await databases(), (await queueNames()).length]).toEqual([SHARDS, 2]);
    expect(await put(instance())).toMatchObject({ outcome: 'stored' });
  });
});

describe('deleting', () => {
  const confirmed = { confirm: '', force: false };
  const datastore = (more: object = {}) => manage().deleteDatastore(name, { ...confirmed, confirm: name, ...more });

  it('a datastore takes databases, indexes, triggers, queues and all that is kept of it', async () => {
    await manage().apply(shop(), false);
    const running = instance();
    await put(running);
    await triggerStore(stateTable, { datastore: name, trigger: 'send' }).setState('paused');
    await openFollower(stateTable, { name: triggerFollower('send'), datastore: name }, SHARDS);
    await openFollower(stateTable, { name: 'repair', datastore: name }, SHARDS);

    expect(await errorOf(() => datastore())).toMatchObject({
      code: 'would_lose',
      details: { more: { lost: { cells: 1, buffered: 0, messages: 0, parked: 0 } } },
    });
    const dry = await datastore({ force: true, dry_run: true });
    expect([dry.done, dry.lost?.cells]).toEqual([false, 1]);
    expect(await put(running)).toMatchObject({ outcome: 'stored' });

    expect(await datastore({ force: true })).toMatchObject({ done: true, shards: SHARDS, lost: { cells: 2 } });
    expect([await databases(), await queueNames()]).toEqual([0, []]);
    // Whoever still worked for the trigger may write of it: a later migration takes its mark, too.
    expect(await left()).toEqual([`deleted#${name}`, `trigger#${name}#send`]);
    // The instance that knew it is told, by its first attempt, and does not buffer.
    expect(await errorOf(() => put(running))).toMatchObject({ code: 'unknown_datastore' });
    expect(await errorOf(() => datastore())).toMatchObject({ code: 'unknown_datastore' });
  });

  it('a datastore whose definition is gone, but not one that is defined', async () => {
    await deploy([{ name, shards: SHARDS, indexes: [BY_BUYER], triggers: [] }]);
    expect(
      await errorOf(async () => (await manageBeside(shop())).deleteDatastore(name, { confirm: name, force: true })),
    ).toMatchObject({
      code: 'still_defined',
      details: { got: expect.stringContaining(`${name}/datastore.yaml`) },
    });
    expect(await errorOf(() => manage().deleteDatastore(name, { confirm: 'shop', force: true }))).toMatchObject({
      code: 'invalid_field',
      details: { field: 'confirm' },
    });
    await writeDeployed(topologyTable, { datastores: [] });
    expect(await datastore()).toMatchObject({ done: true, lost: { cells: 0 } });
    expect([await databases(), await left()]).toEqual([0, [`deleted#${name}`]]);
  });

  it('can be cut off anywhere, and is finished by a repetition; the name is free then', async () => {
    await manage().apply(shop(), false);
    await put(instance());
    let steps = 0;
    // Each time one statement more: it dies somewhere else.
    for (let most = 1; most < 200; most += 1) {
      const outcome = await dying(most)
        .deleteDatastore(name, { confirm: name, force: true })
        .catch(() => undefined);
      steps += 1;
      if (outcome?.done) break;
      const begun = (await dynamoTopology(topologyTable).datastores()).includes(name);
      if (!begun) expect(await errorOf(() => instance().datastore(name))).toMatchObject({ code: 'unknown_datastore' });
    }
    expect(steps).toBeGreaterThan(5);
    expect([await databases(), await queueNames()]).toEqual([0, []]);
    expect(await left()).toEqual([`deleted#${name}`, `trigger#${name}#send`]);
    await manage().apply(shop(), false);
    expect(await put(instance())).toMatchObject({ outcome: 'stored', added_id: 1 });
  });

  it('a datastore that is being deleted is not made anew before that is done', async () => {
    await manage().apply(shop(), false);
    await dying(12)
      .deleteDatastore(name, { confirm: name, force: true })
      .catch(() => undefined);
    expect(await dynamoTopology(topologyTable).datastores()).not.toContain(name);
    expect(await errorOf(() => manage().apply(shop(), false))).toMatchObject({
      code: 'fixed_definition',
      details: { field: 'datastore' },
    });
    await datastore();
    expect((await manage().apply(shop(), false)).done).toBe(true);
  });

  it('an index retires it', async () => {
    await manage().apply(shop(), false);
    expect(await errorOf(() => manage().deleteIndex(name, 'by_none', { confirm: 'by_none' }))).toMatchObject({
      code: 'unknown_index',
    });
    expect(
      await errorOf(async () => (await manageBeside(shop())).deleteIndex(name, 'by_buyer', { confirm: 'by_buyer' })),
    ).toMatchObject({
      code: 'still_defined',
    });
    await writeDeployed(topologyTable, { datastores: [] });
    await manage().deleteIndex(name, 'by_buyer', { confirm: 'by_buyer' });
    expect((await dynamoTopology(topologyTable).indexes(name))[0]?.versions.map(({ state }) => state)).toEqual([
      'retired',
    ]);
    await deploy();
    expect(await left()).not.toContain(`applied#${name}#index#by_buyer`);
  });

  it('a trigger with waiting messages or parked cells wants force', async () => {
    await manage().apply(shop(), false);
    const [trigger] = await triggersNow();
    await triggerStore(stateTable, { datastore: name, trigger: 'send' }).parkMalformed({
      message_id: 'm',
      body: '{',
      error: 'no JSON',
    });
    await sqs.client.send(
      new SendMessageCommand({
        QueueUrl: trigger?.queueUrl,
        MessageBody: '{}',
        MessageGroupId: '0',
        MessageDeduplicationId: 'a',
      }),
    );
    const remove = (more: object = {}) => manage().deleteTrigger(name, 'send', { confirm: 'send', ...more });
    expect(await errorOf(() => remove())).toMatchObject({
      code: 'would_lose',
      details: { more: { lost: { messages: 1, parked: 1 } } },
    });
    expect(await queueNames()).toHaveLength(2);
    expect(await remove({ force: true })).toMatchObject({ lost: { messages: 1, parked: 1 } });
    expect([await triggersNow(), await queueNames()]).toEqual([[], []]);
    expect((await left()).filter((key) => key.includes('#send'))).toEqual([`trigger#${name}#send`]);
    // Made again it begins anew.
    await manage().apply(shop(), false);
    expect(await triggerStore(stateTable, { datastore: name, trigger: 'send' }).malformed()).toEqual([]);
  });
});

/** Manages as ever, and loses its databases after so many statements that change something. */
function dying(most: number): DefinitionManagement {
  let changes = 0;
  return definitionManagement({
    topologyTable,
    stateTable,
    owner: randomUUID(),
    connect: (group) => {
      const client = connect(group);
      return {
        ...client,
        abilities: client.abilities,
        select: (...asked) => client.select(...asked),
        close: () => client.close(),
        change: async (statement) => {
          changes += 1;
          if (changes > most) throw new Error('died');
          return client.change(statement);
        },
      };
    },
    bufferCopies: 0,
    queues: appliedQueues(sqs.client, environment),
    depths: sqsTriggerQueues(sqs.client),
    mostShards: 64,
  });
}
