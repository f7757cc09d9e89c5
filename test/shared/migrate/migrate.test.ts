import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { migrate } from '../../../shared/migrate/migrate.ts';
import type { MigrationWish } from '../../../shared/migrate/migration-wish.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';
import { dynamoTopology, readDatastore } from '../../../shared/topology/dynamo-topology.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import type { DeployedTrigger, GroupAddress } from '../../../shared/topology/topology.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';

let topologyTable: DynamoTable;
let groups: readonly GroupAddress[];
const newName = () => `m_${randomBytes(4).toString('hex')}`;

beforeAll(async () => {
  topologyTable = await newTable(dynamoClient(inject('servers').dynamo));
  groups = inject('servers').groups;
});
afterAll(() => topologyTable.client.destroy());

function connect(address: GroupAddress) {
  const group = inject('servers').groups.find(({ name }) => name === address.name);
  return mysqlClient(address, async () => ({ username: group?.user ?? '', password: group?.password ?? '' }));
}

const run = (wish: MigrationWish, mayGoOn = () => true) => migrate({ topologyTable, connect, wish, mayGoOn });

/** The databases of a datastore on a group. */
async function databases(group: GroupAddress, name: string): Promise<string[]> {
  const client = connect(group);
  const rows = await client.select(
    {
      sql: 'SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE ? ORDER BY 1',
      parameters: [`${name.replaceAll('_', String.raw`\_`)}\\_%`],
    },
    'writer',
  );
  await client.close();
  return rows.map(([schema]) => String(schema));
}

describe('migrate', () => {
  it('spreads shards over the groups and creates each database where the topology says', async () => {
    const name = newName();
    expect(await run({ groups, datastores: [{ name, shards: 10, indexes: [] }] })).toBe(true);
    const topology = await readDatastore(topologyTable, name);
    expect(topology?.places.map(({ group, epoch }) => `${group}/${epoch}`)).toEqual(
      Array.from({ length: 10 }, (_, shard) => `group-${(shard % 3) + 1}/1`),
    );
    for (const group of groups) {
      const wanted = topology?.places.flatMap((place, shard) =>
        place.group === group.name ? [`${name}_000${shard}`] : [],
      );
      expect(await databases(group, name)).toEqual(wanted);
    }
  });

  it('can be repeated, and run twice at once', async () => {
    const name = newName();
    const wish = { groups, datastores: [{ name, shards: 12, indexes: [] }] };
    expect(await Promise.all([run(wish), run(wish)])).toEqual([true, true]);
    expect(await run(wish)).toBe(true);
    expect((await Promise.all(groups.map((group) => databases(group, name)))).flat()).toHaveLength(12);
  });

  it('stops when its time is up and goes on where it stopped', async () => {
    const name = newName();
    const wish = { groups, datastores: [{ name, shards: 400, indexes: [] }] };
    let pages = 0;
    // Three groups ask before each page of 64.
    expect(await run(wish, () => (pages += 1) <= 4)).toBe(false);
    const half = (await Promise.all(groups.map((group) => databases(group, name)))).flat().length;
    expect(half).toBeGreaterThan(0);
    expect(half).toBeLessThan(400);
    expect(await run(wish)).toBe(true);
    expect((await Promise.all(groups.map((group) => databases(group, name)))).flat()).toHaveLength(400);
  });

  it('goes on where a step was cut off after its column was added', async () => {
    const name = newName();
    for (const group of groups) {
      const client = connect(group);
      await client.change({ sql: 'DELETE FROM schemaless.migration WHERE step = 2', parameters: [] });
      await client.close();
    }
    expect(await run({ groups, datastores: [{ name, shards: 4, indexes: [] }] })).toBe(true);
    expect((await Promise.all(groups.map((group) => databases(group, name)))).flat()).toHaveLength(4);
  });

  it('does not take a shard that its server never got for one that never was', async () => {
    const name = newName();
    const wish = { groups, datastores: [{ name, shards: 6, indexes: [] }] };
    const fenced = () => migrate({ topologyTable, connect, wish, bufferCopies: 1, mayGoOn: () => true });
    const [group] = groups;
    if (!group) throw new Error('wanted a group');
    await fenced();
    const client = connect(group);
    const writers = async () =>
      (
        await client.select(
          {
            sql: 'SELECT shard, writer_id = @@server_id FROM schemaless.shard WHERE datastore = ? ORDER BY shard',
            parameters: [name],
          },
          'writer',
        )
      ).map((row) => row.map(Number));
    expect(await writers()).toEqual([
      [0, 1],
      [3, 1],
    ]);
    await client.change({ sql: 'DELETE FROM schemaless.shard WHERE datastore = ? AND shard = 3', parameters: [name] });
    await client.change({ sql: `DROP DATABASE ${name}_0003`, parameters: [] });
    await fenced();
    expect(await writers()).toEqual([
      [0, 1],
      [3, 0],
    ]);
    await client.close();
  });

  it('never computes the place of a shard again: added groups get none of it', async () => {
    const name = newName();
    const [one, two] = groups;
    if (!one || !two) throw new Error('wanted two groups');
    const alone = await newTable(topologyTable.client);
    await migrate({
      topologyTable: alone,
      connect,
      wish: { groups: [one, two], datastores: [{ name, shards: 4, indexes: [] }] },
      mayGoOn: () => true,
    });
    const before = await readDatastore(alone, name);
    await migrate({
      topologyTable: alone,
      connect,
      wish: { groups, datastores: [{ name, shards: 4, indexes: [] }] },
      mayGoOn: () => true,
    });
    expect(await readDatastore(alone, name)).toEqual(before);
    expect((await dynamoTopology(alone).groups()).map((group) => group.name)).toEqual([
      'group-1',
      'group-2',
      'group-3',
    ]);
  });

  it('refuses another shard count, and to lose a group that owns shards, and changes nothing', async () => {
    const name = newName();
    const alone = await newTable(topologyTable.client);
    const wish = (shards: number, some = groups) => ({
      topologyTable: alone,
      connect,
      wish: { groups: some, datastores: [{ name, shards, indexes: [] }] },
      mayGoOn: () => true,
    });
    await migrate(wish(6));
    await expect(migrate(wish(8))).rejects.toThrow(
      `datastore ${name}: wanted its 6 shards, fixed when it was created, got 8`,
    );
    await expect(migrate(wish(6, groups.slice(1)))).rejects.toThrow(/groups: wanted group-1 among them/);
    expect(await dynamoTopology(alone).groups()).toHaveLength(3);
    expect((await readDatastore(alone, name))?.shards).toBe(6);
  });

  it('lists the triggers of a datastore once its shards are there', async () => {
    const name = newName();
    const alone = await newTable(topologyTable.client);
    const trigger: DeployedTrigger = {
      definition: { name: 'bill', start: 'start', maxAttempts: 5, stopAfterParked: 100, timeoutSeconds: 30 },
      queueUrl: 'http://localhost/bill.fifo',
      parkedQueueUrl: 'http://localhost/parked.fifo',
    };
    const wish: MigrationWish = { groups, datastores: [{ name, shards: 6, indexes: [], triggers: [trigger] }] };
    expect(await migrate({ topologyTable: alone, connect, wish, mayGoOn: () => false })).toBe(false);
    expect(await dynamoTopology(alone).triggers(name)).toEqual([]);
    expect(await migrate({ topologyTable: alone, connect, wish, mayGoOn: () => true })).toBe(true);
    expect(await dynamoTopology(alone).triggers(name)).toEqual([trigger]);
  });
});
