import { randomBytes, randomUUID } from 'node:crypto';
import { DeleteItemCommand, UpdateItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell, PutResult } from '../../../shared/cell.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { appliedQueues } from '../../../shared/migrate/applied-queues.ts';
import { definitionManagement, type DefinitionManagement } from '../../../shared/migrate/definition-management.ts';
import { deleteDatastore } from '../../../shared/migrate/delete-datastore.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import { SqlError, type SqlClient } from '../../../shared/sql/client.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { shardOf } from '../../../shared/shard.ts';
import { openContext } from '../../../shared/access/context.ts';
import { openDeployment, type Deployment } from '../../../shared/store/deployment.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import { sqsTriggerQueues } from '../../../shared/triggers/state/sqs-trigger-queues.ts';
import { cellOf, errorOf } from '../../support/datastore-conformance.ts';
import { drainPass } from '../../support/drain-pass.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { startSqs, type LocalSqs } from '../../support/sqs.ts';
import { PATIENT } from '../../support/store-access.ts';
import { wrapped } from '../../support/wrapped-client.ts';

/** Databases are made and dropped by the dozen. */
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const SHARDS = 6;
const { dynamo } = inject('servers');
const groups: readonly GroupAddress[] = inject('servers').groups;
let sqs: LocalSqs;
let topologyTable: DynamoTable;
let stateTable: DynamoTable;
let name: string;
const deployments: Deployment[] = [];

beforeAll(async () => {
  sqs = await startSqs();
});
beforeEach(async () => {
  topologyTable = await newTable(dynamoClient(dynamo));
  stateTable = await newTable(dynamoClient(dynamo));
  name = `shop_${randomBytes(3).toString('hex')}`;
  await migrate({ topologyTable, stateTable, connect, wish: { groups, datastores: [] }, mayGoOn: () => true });
  await make(SHARDS);
});
afterEach(async () => {
  await Promise.all(deployments.splice(0).map((deployment) => deployment.close()));
});
afterAll(() => sqs.stop());

function connect(address: GroupAddress): SqlClient {
  const group = inject('servers').groups.find((one) => one.name === address.name);
  return mysqlClient(address, async () => ({ username: group?.user ?? '', password: group?.password ?? '' }), PATIENT);
}

/** Of the parts that a deletion works with, those that are as they always are. */
const parts = () => ({
  topologyTable,
  stateTable,
  connect,
  bufferCopies: 1,
  queues: appliedQueues(sqs.client, 'made-again'),
  depths: sqsTriggerQueues(sqs.client),
  mostShards: 64,
});

function manage(between: (address: GroupAddress) => SqlClient = connect, workMs = 60_000): DefinitionManagement {
  return definitionManagement({ ...parts(), owner: randomUUID(), connect: between, workMs });
}

/** An instance of a function, which knows what it has read for a minute. */
function instance(): Deployment {
  const opened = openDeployment({ topology: dynamoTopology(topologyTable), connect, bufferCopies: 1 });
  deployments.push(opened);
  return opened;
}

const definition = (shards: number) => ({ datastores: [{ name, shards, indexes: [], triggers: [] }] });
const make = (shards: number) => manage().apply(definition(shards), false);
const remove = (more: { readonly force?: boolean } = { force: true }) =>
  manage().deleteDatastore(name, { confirm: name, ...more });
const put = async (by: Deployment, cell: NewCell = cellOf({})): Promise<PutResult> =>
  (await by.datastore(name)).put(cell);
const read = async (by: Deployment, cell: NewCell) => (await (await by.datastore(name)).get(cell)).cell;

/** Whose shard is another one of so many. */
function movingCell(from: number, to: number): NewCell {
  for (;;) {
    const cell = cellOf({ row_key: randomUUID() });
    if (shardOf(cell.row_key, from) !== shardOf(cell.row_key, to)) return cell;
  }
}

/** Lets the deletion of the datastore be so long ago that no instance remembers it. */
async function forgetDeletion(): Promise<void> {
  await topologyTable.client.send(
    new UpdateItemCommand({
      TableName: topologyTable.table,
      Key: { pk: { S: `deleted#${name}` } },
      UpdateExpression: 'SET #at = :at',
      ExpressionAttributeNames: { '#at': 'at' },
      ExpressionAttributeValues: { ':at': { S: '2020-01-01T00:00:00.000Z' } },
    }),
  );
}

async function onAll<T>(work: (client: SqlClient, group: string) => Promise<T>): Promise<T[]> {
  return Promise.all(
    groups.map(async (group) => {
      const client = connect(group);
      try {
        return await work(client, group.name);
      } finally {
        await client.close();
      }
    }),
  );
}

/** Copies of its writes, on all groups. */
async function copies(of = name): Promise<number> {
  const sql = 'SELECT COUNT(*) FROM schemaless.buffer WHERE datastore = ?';
  const counts = await onAll(async (client) =>
    Number((await client.select({ sql, parameters: [of] }, 'writer'))[0]?.[0]),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** A copy that came by itself to a group that is not the primary. */
async function strayCopy(of = name): Promise<NewCell> {
  const cell = cellOf({ row_key: randomUUID() });
  const shard = shardOf(cell.row_key, SHARDS);
  const holder = groups[(shard + 1) % groups.length]?.name;
  await onAll(async (client, group) => {
    if (group === holder) await client.change(insertBuffered(of, [{ ...cell, shard, encoded: encodeBody(cell.body) }]));
  });
  return cell;
}

/** Drains what waits on every group, as an instance that begins now. */
async function drainAll(): Promise<void> {
  const context = openContext({ topology: dynamoTopology(topologyTable), connect, bufferCopies: 1 });
  for (const group of groups) await drainPass(context, group.name, () => true, { minimumAgeSeconds: 0 });
  await context.groups.close();
}

describe('a datastore that was deleted and made again', () => {
  it('with another number of shards has each cell in its shard, whatever an instance knew that writes it', async () => {
    const knowing = instance();
    await put(knowing);
    await remove();
    await forgetDeletion();
    await make(SHARDS - 1);
    for (let round = 0; round < 4; round += 1) {
      const cell = movingCell(SHARDS, SHARDS - 1);
      const outcome = await put(knowing, cell).catch((error: Error & { code: string }) => ({ outcome: error.code }));
      expect(['stored', 'unavailable']).toContain(outcome.outcome);
      if (outcome.outcome === 'stored') expect((await read(instance(), cell))?.body).toEqual(cell.body);
      else expect([await read(instance(), cell), await copies()]).toEqual([null, 0]);
    }
    expect(await put(knowing)).toMatchObject({ outcome: 'stored' });
  });

  it('with another number of shards is there only when no instance reads by the former one any more', async () => {
    await remove();
    expect(await manage(connect, 5000).apply(definition(SHARDS - 1), false)).toMatchObject({ done: false });
    expect(await errorOf(() => instance().datastore(name))).toMatchObject({ code: 'unknown_datastore' });
    await forgetDeletion();
    expect(await make(SHARDS - 1)).toMatchObject({ done: true });
    expect(await put(instance())).toMatchObject({ outcome: 'stored', added_id: 1 });
  });

  it('with as many shards is there at once, also for an instance that knew the former one', async () => {
    const knowing = instance();
    await put(knowing);
    await remove();
    expect(await make(SHARDS)).toMatchObject({ done: true });
    const cell = cellOf({ row_key: randomUUID() });
    expect(await put(knowing, cell)).toMatchObject({ outcome: 'stored', added_id: 1 });
    expect((await read(instance(), cell))?.body).toEqual(cell.body);
  });

  it('has epochs that none before it had', async () => {
    const epochs: number[] = [];
    for (let life = 0; life < 3; life += 1) {
      epochs.push((await dynamoTopology(topologyTable).datastore(name))?.places[0]?.epoch ?? 0);
      await remove();
      await make(SHARDS);
    }
    expect(new Set(epochs).size).toBe(3);
  });

  it('has no cell of a copy that came for the former one', async () => {
    const running = instance();
    await put(running);
    await remove();
    const late = await strayCopy();
    await make(SHARDS);
    await drainAll();
    expect([await read(instance(), late), await copies()]).toEqual([null, 0]);
  });
});

describe('a datastore that is gone', () => {
  it('has no copy left of a write that is answered 404', async () => {
    const knowing = instance();
    await put(knowing);
    await remove();
    expect(await errorOf(() => put(knowing))).toMatchObject({ code: 'unknown_datastore' });
    expect(await copies()).toBe(0);
  });

  it('loses the copies that come late by the drain, but one that nobody ever deleted keeps its own', async () => {
    await remove();
    await strayCopy();
    const newer = `${name}_newer`;
    await strayCopy(newer);
    await drainAll();
    expect([await copies(), await copies(newer)]).toEqual([0, 1]);
    await onAll((client) =>
      client.change({ sql: 'DELETE FROM schemaless.buffer WHERE datastore = ?', parameters: [newer] }),
    );
  });
});

describe('a deletion without force', () => {
  /** Between the count that found nothing and the first shard that is closed a cell is written by who knew of it. */
  function overtaken(
    cell: NewCell,
    by: Deployment,
    dies: (sql: string) => boolean = () => false,
  ): DefinitionManagement {
    let isFirst = true;
    return manage((group) => {
      const client = connect(group);
      return {
        ...client,
        change: async (statement) => {
          if (isFirst && /^(UPDATE|DELETE FROM) `schemaless`\.shard /u.test(statement.sql)) {
            isFirst = false;
            expect(await put(by, cell)).toMatchObject({ outcome: 'stored' });
          }
          if (dies(statement.sql)) throw new Error('died');
          return client.change(statement);
        },
      };
    });
  }

  it('loses no cell that is acknowledged while it is judged', async () => {
    const running = instance();
    await running.datastore(name);
    const cell = cellOf({ row_key: randomUUID() });
    expect(await errorOf(() => overtaken(cell, running).deleteDatastore(name, { confirm: name }))).toMatchObject({
      code: 'would_lose',
      details: { more: { lost: { cells: 1 } } },
    });
    expect((await read(instance(), cell))?.body).toEqual(cell.body);
    // Whoever looked meanwhile looks again within a second.
    await expect.poll(() => put(running, cell).catch(({ code }) => code)).toMatchObject({ outcome: 'stored_before' });
  });

  it.each([
    [
      'judged by its repetition',
      async () => void expect(await errorOf(() => remove({}))).toMatchObject({ code: 'would_lose' }),
    ],
    [
      'taken back by a deployment',
      async () =>
        void (await migrate({
          topologyTable,
          stateTable,
          connect,
          wish: { groups, datastores: [] },
          mayGoOn: () => true,
        })),
    ],
  ])('that was cut off while it was judged is %s', async (_what, goOn) => {
    const running = instance();
    await running.datastore(name);
    const cell = cellOf({ row_key: randomUUID() });
    const dying = overtaken(cell, running, (sql) => sql.includes("SET state = 'open'"));
    await expect(dying.deleteDatastore(name, { confirm: name })).rejects.toThrow('died');
    expect(await errorOf(() => instance().datastore(name))).toMatchObject({ code: 'unknown_datastore' });
    await goOn();
    expect((await read(instance(), cell))?.body).toEqual(cell.body);
    expect(await put(instance(), cellOf({ row_key: randomUUID() }))).toMatchObject({ outcome: 'stored' });
  });

  /** The writer of every group is out of its reach, for a reason of its own. */
  function cutFromPrimaries(): Deployment {
    const opened = openDeployment({
      topology: dynamoTopology(topologyTable),
      bufferCopies: 1,
      connect: (group) =>
        wrapped(connect(group), (client) => ({
          ...client,
          change: async (statement) => {
            if (statement.sql.includes('.`entity`')) throw new SqlError('unreachable', 'cut off');
            return client.change(statement);
          },
        })),
    });
    deployments.push(opened);
    return opened;
  }

  it('loses no write that was answered `buffered`: none is once the copies are counted', async () => {
    const writer = cutFromPrimaries();
    const other = cutFromPrimaries();
    const outcomeOf = (by: Deployment) =>
      put(by, cellOf({ row_key: randomUUID() })).then(
        ({ outcome }) => outcome,
        ({ code }) => code as string,
      );
    await Promise.all([writer, other].map((by) => by.datastore(name)));
    const late: string[] = [];
    let isCounted = false;
    const slow = manage((group) => {
      const client = connect(group);
      return {
        ...client,
        select: async (statement, target) => {
          const rows = await client.select(statement, target);
          if (statement.sql.includes('COUNT(*) FROM `schemaless`.buffer')) isCounted = true;
          return rows;
        },
        change: async (statement) => {
          // Decided by now, and nothing is deleted yet.
          if (late.length === 0 && isCounted && statement.sql.startsWith('DELETE FROM `schemaless`.shard'))
            late.push(await outcomeOf(writer));
          return client.change(statement);
        },
      };
    });
    expect(await slow.deleteDatastore(name, { confirm: name })).toMatchObject({ done: true });
    expect(late).toEqual(['unknown_datastore']);
    expect(await copies()).toBe(0);
    // Nor when all is gone, by who knows it from before; and one of the name that is made again takes copies.
    expect(await outcomeOf(other)).toBe('unknown_datastore');
    await make(SHARDS);
    expect(await outcomeOf(cutFromPrimaries())).toBe('buffered');
  });

  it('is refused where a write was answered `buffered` before the copies are counted', async () => {
    const writer = cutFromPrimaries();
    expect(await put(writer)).toMatchObject({ outcome: 'buffered' });
    expect(await errorOf(() => remove({}))).toMatchObject({
      code: 'would_lose',
      details: { more: { lost: { cells: 0, buffered: 2 } } },
    });
    expect(await put(writer, cellOf({ row_key: randomUUID() }))).toMatchObject({ outcome: 'buffered' });
  });

  it('of one that holds something begins nothing', async () => {
    await put(instance());
    expect(await errorOf(() => remove({}))).toMatchObject({ code: 'would_lose' });
    expect(await dynamoTopology(topologyTable).datastores()).toEqual([name]);
  });

  it('of one that is empty takes it', async () => {
    expect(await remove({})).toMatchObject({ done: true });
  });
});

describe('a deletion that was frozen', () => {
  it('and goes on when another has finished it leaves alone what was made since', async () => {
    let thaw = (): void => undefined;
    const frozen = new Promise<void>((resolve) => (thaw = resolve));
    let isThere = (): void => undefined;
    const reached = new Promise<void>((resolve) => (isThere = resolve));
    const slow = {
      send: async (command: unknown) => {
        if (command instanceof DeleteItemCommand && command.input.Key?.['pk']?.S === `datastore#${name}`) {
          isThere();
          await frozen;
        }
        return topologyTable.client.send(command as DeleteItemCommand);
      },
    } as unknown as DynamoDBClient;
    const late = deleteDatastore(
      {
        ...parts(),
        deployed: { datastores: [] },
        topologyTable: { ...topologyTable, client: slow },
        mayGoOn: () => true,
      },
      name,
      { confirm: name, force: true },
    );
    await reached;
    await remove();
    await make(SHARDS);
    thaw();
    await late;
    expect(await put(instance())).toMatchObject({ outcome: 'stored' });
  });

  it('leaves alone the shards of one that was made since, whichever statement it was frozen at', async () => {
    let thaw = (): void => undefined;
    const frozen = new Promise<void>((resolve) => (thaw = resolve));
    let isThere = (): void => undefined;
    const reached = new Promise<void>((resolve) => (isThere = resolve));
    let isThawed = false;
    const freezing = (address: GroupAddress): SqlClient => {
      const client = connect(address);
      return {
        ...client,
        change: async (statement) => {
          if (statement.sql.startsWith('DELETE FROM `schemaless`.shard')) {
            isThere();
            await frozen;
          }
          return client.change(statement);
        },
      };
    };
    const late = deleteDatastore(
      { ...parts(), deployed: { datastores: [] }, connect: freezing, mayGoOn: () => !isThawed },
      name,
      { confirm: name, force: true },
    );
    await reached;
    await remove();
    await make(SHARDS);
    isThawed = true;
    thaw();
    expect((await late).done).toBe(false);
    for (let cell = 0; cell < 20; cell += 1)
      expect(await put(instance(), cellOf({ row_key: randomUUID() }))).toMatchObject({ outcome: 'stored' });
  });

  it('drops no database once its time is up', async () => {
    let drops = 0;
    const counting = (address: GroupAddress): SqlClient => {
      const client = connect(address);
      return {
        ...client,
        change: async (statement) => {
          if (statement.sql.startsWith('DROP DATABASE')) drops += 1;
          return client.change(statement);
        },
      };
    };
    await deleteDatastore(
      { ...parts(), deployed: { datastores: [] }, connect: counting, mayGoOn: () => drops === 0 },
      name,
      { confirm: name, force: true },
    );
    expect(drops).toBe(1);
  });

  it('forgets nothing once its time is up', async () => {
    let drops = 0;
    const ending = (address: GroupAddress): SqlClient => {
      const client = connect(address);
      return {
        ...client,
        change: async (statement) => {
          if (statement.sql.startsWith('DROP DATABASE')) drops += 1;
          return client.change(statement);
        },
      };
    };
    const outcome = await deleteDatastore(
      { ...parts(), deployed: { datastores: [] }, connect: ending, mayGoOn: () => drops < SHARDS },
      name,
      {
        confirm: name,
        force: true,
      },
    );
    expect(outcome.done).toBe(false);
    expect((await remove()).done).toBe(true);
  });
});
