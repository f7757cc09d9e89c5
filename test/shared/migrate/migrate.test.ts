import { randomBytes } from 'node:crypto';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { migrate } from '../../../shared/migrate/migrate.ts';
import type { MigrationWish } from '../../../shared/migrate/check-wish.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import { dynamoTopology, readDatastore } from '../../../shared/topology/dynamo-topology.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import type { DeployedTrigger, GroupAddress } from '../../../shared/topology/topology.ts';
import { clientTo } from '../../support/connection-to.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { change, select } from '../../support/plain-sql.ts';
import { triggerNamed } from '../../support/trigger-named.ts';

const { groups, dynamo } = inject('servers');
const client = dynamoClient(dynamo);
/** Of each test. */
let topologyTable: DynamoTable;
let name: string;

beforeEach(async () => {
  topologyTable = await newTable(client);
  name = `m_${randomBytes(4).toString('hex')}`;
});
afterAll(() => client.destroy());

const run = (wish: MigrationWish, mayGoOn = () => true) => migrate({ topologyTable, connect: clientTo, wish, mayGoOn });
const wishFor = (shards: number, among: readonly GroupAddress[] = groups): MigrationWish => ({
  groups: among,
  datastores: [{ name, shards, indexes: [], triggers: [] }],
});

async function databasesOn(group: GroupAddress): Promise<string[]> {
  const server = clientTo(group);
  const rows = await select(
    server,
    'SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE ? ORDER BY 1',
    `${name.replaceAll('_', String.raw`\_`)}\\_%`,
  );
  await server.close();
  return rows.map(([schema]) => String(schema));
}
const countDatabases = async () => (await Promise.all(groups.map(databasesOn))).flat().length;

describe('migrate', () => {
  it('spreads shards over the groups and creates each database where the topology says', async () => {
    expect(await run(wishFor(10))).toBe(true);
    const topology = await readDatastore(topologyTable, name);
    expect(topology?.homes.map(({ group, epoch }) => `${group}/${epoch}`)).toEqual(
      Array.from({ length: 10 }, (_, shard) => `group-${(shard % 3) + 1}/1`),
    );
    for (const group of groups) {
      const wanted = topology?.homes.flatMap((home, shard) =>
        home.group === group.name ? [`${name}_000${shard}`] : [],
      );
      expect(await databasesOn(group)).toEqual(wanted);
    }
  });

  it('can be repeated, and run twice at once', async () => {
    const wish = wishFor(12);
    expect(await Promise.all([run(wish), run(wish)])).toEqual([true, true]);
    expect(await run(wish)).toBe(true);
    expect(await countDatabases()).toBe(12);
  });

  it('stops when its time is up, and goes on where it stopped: no shard is taken for one whose cells were lost', async () => {
    const wish = wishFor(210);
    const cutOff = (mayGoOn: () => boolean) =>
      migrate({ topologyTable, connect: clientTo, wish, bufferCopies: 1, mayGoOn });
    let pages = 0;
    // Three groups ask before each page of 64.
    expect(await cutOff(() => (pages += 1) <= 4)).toBe(false);
    expect(await readDatastore(topologyTable, name)).toMatchObject({ isBeingMade: true });
    const half = await countDatabases();
    expect(half).toBeGreaterThan(0);
    expect(half).toBeLessThan(210);
    expect(await cutOff(() => true)).toBe(true);
    expect(await countDatabases()).toBe(210);
    expect(await readDatastore(topologyTable, name)).not.toHaveProperty('isBeingMade');
    const deployment = openDeployment({ topology: dynamoTopology(topologyTable), connect: clientTo, bufferCopies: 1 });
    const written = await (await deployment.datastore(name)).batchPut(Array.from({ length: 100 }, () => cellOf()));
    await deployment.close();
    expect(new Set(written.map(({ outcome }) => outcome))).toEqual(new Set(['stored']));
  });

  it('does not take a shard that its server never got for one that never was', async () => {
    const wish = wishFor(6);
    const fenced = () => migrate({ topologyTable, connect: clientTo, wish, bufferCopies: 1, mayGoOn: () => true });
    const [group] = groups;
    if (!group) throw new Error('wanted a group');
    await fenced();
    const server = clientTo(group);
    const known = 'SELECT shard, writer_id = @@server_id FROM schemaless.shard WHERE datastore = ? ORDER BY shard';
    const writers = async () => (await select(server, known, name)).map((row) => row.map(Number));
    expect(await writers()).toEqual([
      [0, 1],
      [3, 1],
    ]);
    await change(server, 'DELETE FROM schemaless.shard WHERE datastore = ? AND shard = 3', name);
    await change(server, `DROP DATABASE ${name}_0003`);
    await fenced();
    expect(await writers()).toEqual([
      [0, 1],
      [3, 0],
    ]);
    await server.close();
  });

  it('takes those that write for whole where a third group turns copies on', async () => {
    const [one, other] = groups;
    if (!one || !other) throw new Error('wanted two groups');
    await run(wishFor(4, [one, other]));
    const recorded = async (group: GroupAddress): Promise<readonly unknown[]> => {
      const server = clientTo(group);
      const known = 'SELECT writer_id = @@server_id FROM schemaless.shard WHERE datastore = ? ORDER BY shard';
      const rows = await select(server, known, name);
      await server.close();
      return rows.map(([is]) => (is === null ? null : Number(is)));
    };
    expect([await recorded(one), await recorded(other)]).toEqual([
      [null, null],
      [null, null],
    ]);
    await migrate({ topologyTable, connect: clientTo, wish: wishFor(4), bufferCopies: 1, mayGoOn: () => true });
    expect([await recorded(one), await recorded(other)]).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  it('never computes the place of a shard again: added groups get none of it', async () => {
    await run(wishFor(4, groups.slice(0, 2)));
    const before = await readDatastore(topologyTable, name);
    await run(wishFor(4));
    expect(await readDatastore(topologyTable, name)).toEqual(before);
    expect((await dynamoTopology(topologyTable).groups()).map((group) => group.name)).toEqual([
      'group-1',
      'group-2',
      'group-3',
    ]);
  });

  it('refuses another shard count, and to lose a group that owns shards, and changes nothing', async () => {
    await run(wishFor(6));
    await expect(run(wishFor(8))).rejects.toThrow(
      `datastore ${name}: wanted its 6 shards, fixed when it was created, got 8`,
    );
    const lacking = `groups: wanted group-1 among them, which owns shards of ${name} (0, 3), got group-2, group-3`;
    await expect(run(wishFor(6, groups.slice(1)))).rejects.toThrow(lacking);
    // Nobody wishes it any more, and its cells are read all the same.
    await expect(run({ groups: groups.slice(1), datastores: [] })).rejects.toThrow(lacking);
    expect(await dynamoTopology(topologyTable).groups()).toHaveLength(3);
    expect((await readDatastore(topologyTable, name))?.shards).toBe(6);
  });

  it('refuses to lose a group that shards are being moved to', async () => {
    await run(wishFor(12, groups.slice(0, 2)));
    await run(wishFor(12));
    const move = (to: string) => ({ M: { to: { S: to }, entries: { BOOL: false } } });
    await client.send(
      new UpdateItemCommand({
        TableName: topologyTable.table,
        Key: { pk: { S: `datastore#${name}` } },
        UpdateExpression: 'SET moving = :moving',
        ExpressionAttributeValues: {
          ':moving': { M: { 10: move('group-3'), 2: move('group-3'), 3: move('group-1') } },
        },
      }),
    );
    await expect(run(wishFor(12, groups.slice(0, 2)))).rejects.toThrow(
      `groups: wanted group-3 among them, which shards of ${name} are being moved to (2, 10), got group-1, group-2`,
    );
    expect(await dynamoTopology(topologyTable).groups()).toHaveLength(3);
    expect(await run(wishFor(12))).toBe(true);
  });

  it('lists the triggers of a datastore once its shards are there', async () => {
    const trigger: DeployedTrigger = {
      definition: triggerNamed('bill'),
      queueUrl: 'http://localhost/bill.fifo',
      parkedQueueUrl: 'http://localhost/parked.fifo',
    };
    const wish: MigrationWish = { groups, datastores: [{ name, shards: 6, indexes: [], triggers: [trigger] }] };
    expect(await run(wish, () => false)).toBe(false);
    expect(await dynamoTopology(topologyTable).triggers(name)).toEqual([]);
    expect(await run(wish)).toBe(true);
    expect(await dynamoTopology(topologyTable).triggers(name)).toEqual([trigger]);
  });
});
