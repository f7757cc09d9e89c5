import { DeleteItemCommand, UpdateItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import type { NewCell, PutResult } from '../../../shared/cell.ts';
import { deleteDatastore } from '../../../shared/migrate/delete-datastore.ts';
import { SqlError, type SqlClient } from '../../../shared/sql/client.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { shardOf } from '../../../shared/address.ts';
import { openContext } from '../../../shared/access/context.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import { watchedClient } from '../../support/connection-to.ts';
import { copyOf } from '../../support/copy-of.ts';
import { cellOf, errorOf } from '../../support/datastore-conformance.ts';
import { drainPass } from '../../support/drain-pass.ts';
import { select } from '../../support/plain-sql.ts';
import { PATIENT } from '../../support/store-access.ts';
import { wrapped } from '../../support/wrapped-client.ts';
import {
  connect,
  defined,
  deploy,
  groups,
  instance as open,
  manageWith,
  parts,
  shop,
  topologyNow,
  type Connect,
  useShop,
} from './support/shop.ts';

useShop();

const SHARDS = 6;
beforeEach(async () => void (await make(SHARDS)));

/** An instance of a function, which knows what it has read for a minute. */
const instance = (): Deployment => open(1);
const make = (shards: number) => manageWith(1).apply(defined(shards), false);
const byForce = () => ({ confirm: shop.name, force: true });
const remove = (more: { readonly force?: boolean } = { force: true }) =>
  manageWith(1).deleteDatastore(shop.name, { confirm: shop.name, ...more });
const put = async (by: Deployment, cell: NewCell = cellOf()): Promise<PutResult> =>
  (await by.datastore(shop.name)).put(cell);
const read = async (by: Deployment, cell: NewCell) => (await (await by.datastore(shop.name)).get(cell)).cell;
/** As groups are reached by whoever is told of each change before it is sent. */
const watching =
  (beforeChange: (sql: string) => unknown): Connect =>
  (group) =>
    watchedClient(group, beforeChange, PATIENT);

/** Whose shard is another one of so many. */
function movingCell(from: number, to: number): NewCell {
  for (;;) {
    const cell = cellOf();
    if (shardOf(cell.row_key, from) !== shardOf(cell.row_key, to)) return cell;
  }
}

/** Lets the deletion of the datastore be so long ago that no instance remembers it. */
async function forgetDeletion(): Promise<void> {
  await shop.topologyTable.client.send(
    new UpdateItemCommand({
      TableName: shop.topologyTable.table,
      Key: { pk: { S: `deleted#${shop.name}` } },
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
async function copies(): Promise<number> {
  const counting = 'SELECT COUNT(*) FROM schemaless.buffer WHERE datastore = ?';
  const counts = await onAll(async (client) => Number((await select(client, counting, shop.name))[0]?.[0]));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** A copy that came by itself to a group that is not the primary. */
async function strayCopy(): Promise<NewCell> {
  const cell = cellOf();
  const shard = shardOf(cell.row_key, SHARDS);
  const holder = groups[(shard + 1) % groups.length]?.name;
  await onAll(async (client, group) => {
    if (group === holder) await client.change(insertBuffered(shop.name, [copyOf(cell, shard)]));
  });
  return cell;
}

/** Drains what waits on every group, as an instance that begins now. */
async function drainAll(): Promise<void> {
  const context = openContext({ topology: topologyNow(), connect, bufferCopies: 1 });
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
    expect(await manageWith(1, { workMs: 5000 }).apply(defined(SHARDS - 1), false)).toMatchObject({ done: false });
    expect(await errorOf(() => instance().datastore(shop.name))).toMatchObject({ code: 'unknown_datastore' });
    await forgetDeletion();
    expect(await make(SHARDS - 1)).toMatchObject({ done: true });
    expect(await put(instance())).toMatchObject({ outcome: 'stored', added_id: 1 });
  });

  it('has epochs that none before it had', async () => {
    const epochs: number[] = [];
    for (let life = 0; life < 3; life += 1) {
      epochs.push((await topologyNow().datastore(shop.name))?.homes[0]?.epoch ?? 0);
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

describe('a deletion without force', () => {
  /** Between the count that found nothing and the first shard that is closed a cell is written by who knew of it. */
  function overtaken(cell: NewCell, by: Deployment, dies: (sql: string) => boolean = () => false) {
    let isFirst = true;
    const connected = watching(async (sql) => {
      if (isFirst && /^(UPDATE|DELETE FROM) `schemaless`\.shard /u.test(sql)) {
        isFirst = false;
        expect(await put(by, cell)).toMatchObject({ outcome: 'stored' });
      }
      if (dies(sql)) throw new Error('died');
    });
    return manageWith(1, { connect: connected }).deleteDatastore(shop.name, { confirm: shop.name });
  }

  it('loses no cell that is acknowledged while it is judged', async () => {
    const running = instance();
    await running.datastore(shop.name);
    const cell = cellOf();
    expect(await errorOf(() => overtaken(cell, running))).toMatchObject({
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
    ['taken back by a deployment', async () => void (await deploy())],
  ])('that was cut off while it was judged is %s', async (_what, goOn) => {
    const running = instance();
    await running.datastore(shop.name);
    const cell = cellOf();
    const dying = overtaken(cell, running, (sql) => sql.includes("SET state = 'open'"));
    await expect(dying).rejects.toThrow('died');
    expect(await errorOf(() => instance().datastore(shop.name))).toMatchObject({ code: 'unknown_datastore' });
    await goOn();
    expect((await read(instance(), cell))?.body).toEqual(cell.body);
    expect(await put(instance(), cellOf())).toMatchObject({ outcome: 'stored' });
  });

  /** The writer of every group is out of its reach, for a reason of its own. */
  function cutFromPrimaries(): Deployment {
    return open(1, (group) =>
      wrapped(connect(group), (client) => ({
        ...client,
        change: async (statement) => {
          if (statement.sql.includes('.`entity`')) throw new SqlError('unreachable', 'cut off');
          return client.change(statement);
        },
      })),
    );
  }

  it('loses no write that was answered `buffered`: none is once the copies are counted', async () => {
    const writer = cutFromPrimaries();
    const other = cutFromPrimaries();
    const outcomeOf = (by: Deployment) =>
      put(by, cellOf()).then(
        ({ outcome }) => outcome,
        ({ code }) => code as string,
      );
    await Promise.all([writer, other].map((by) => by.datastore(shop.name)));
    const late: string[] = [];
    let isCounted = false;
    const slow = (group: GroupAddress): SqlClient => {
      const client = watchedClient(
        group,
        async (sql) => {
          // Decided by now, and nothing is deleted yet.
          if (late.length === 0 && isCounted && sql.startsWith('DELETE FROM `schemaless`.shard'))
            late.push(await outcomeOf(writer));
        },
        PATIENT,
      );
      return {
        ...client,
        select: async (statement, target) => {
          const rows = await client.select(statement, target);
          if (statement.sql.includes('COUNT(*) FROM `schemaless`.buffer')) isCounted = true;
          return rows;
        },
      };
    };
    const manager = manageWith(1, { connect: slow });
    expect(await manager.deleteDatastore(shop.name, { confirm: shop.name })).toMatchObject({ done: true });
    expect(late).toEqual(['unknown_datastore']);
    expect(await copies()).toBe(0);
    // Nor when all is gone, by who knows it from before; and one of the name that is made again takes copies.
    expect(await outcomeOf(other)).toBe('unknown_datastore');
    await make(SHARDS);
    expect(await outcomeOf(cutFromPrimaries())).toBe('buffered');
  });
});

describe('a deletion that was frozen', () => {
  type Deletion = Parameters<typeof deleteDatastore>[0];
  const deleteWith = (more: Partial<Deletion>) =>
    deleteDatastore({ ...parts(1), deployed: { datastores: [] }, mayGoOn: () => true, ...more }, shop.name, byForce());

  it('and goes on when another has finished it leaves alone what was made since', async () => {
    const [reached, frozen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = {
      send: async (command: unknown) => {
        if (command instanceof DeleteItemCommand && command.input.Key?.['pk']?.S === `datastore#${shop.name}`) {
          reached.resolve();
          await frozen.promise;
        }
        return shop.topologyTable.client.send(command as DeleteItemCommand);
      },
    } as unknown as DynamoDBClient;
    const late = deleteWith({ topologyTable: { ...shop.topologyTable, client: slow } });
    await reached.promise;
    await remove();
    await make(SHARDS);
    frozen.resolve();
    await late;
    expect(await put(instance())).toMatchObject({ outcome: 'stored' });
  });

  it.each(['INSERT INTO `schemaless`.deletion', 'DELETE FROM `schemaless`.shard'])(
    'leaves alone the shards of one that was made since, frozen at %s',
    async (beginning) => {
      const [reached, frozen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let isThawed = false;
      const freezing = watching(async (sql) => {
        if (!sql.startsWith(beginning)) return;
        reached.resolve();
        await frozen.promise;
      });
      const late = deleteWith({ connect: freezing, mayGoOn: () => !isThawed });
      await reached.promise;
      await remove();
      await make(SHARDS);
      isThawed = true;
      frozen.resolve();
      expect((await late).done).toBe(false);
      for (let cell = 0; cell < 20; cell += 1) expect(await put(instance())).toMatchObject({ outcome: 'stored' });
    },
  );
});
