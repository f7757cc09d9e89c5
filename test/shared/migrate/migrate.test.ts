import { randomBytes } from 'node:crypto';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { migrate, type Migration } from '../../../shared/migrate/migrate.ts';
import type { DesiredState } from '../../../shared/migrate/check-desired-state.ts';
import { SqlError, type SqlClient, type Statement } from '../../../shared/sql/client.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import { dynamoTopology, readDatastore } from '../../../shared/topology/dynamo-topology.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { definitionHash, setIndexState } from '../../../shared/topology/index-catalogue.ts';
import type { DeployedTrigger, GroupAddress } from '../../../shared/topology/topology.ts';
import { clientTo, watchedClient } from '../../support/connection-to.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { indexOn } from '../../support/index-on.ts';
import { change, select } from '../../support/plain-sql.ts';
import { triggerNamed } from '../../support/trigger-named.ts';
import { databasesOn } from './support/shop.ts';

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

const run = (desired: DesiredState, more: Partial<Migration> = {}) =>
  migrate({ topologyTable, connect: clientTo, desired, mayGoOn: () => true, ...more });
const desiredFor = (
  shards: number,
  among: readonly GroupAddress[] = groups,
  indexes: readonly IndexDefinition[] = [],
): DesiredState => ({ groups: among, datastores: [{ name, shards, indexes, triggers: [] }] });

/** Whether the server of a group is known as the writer of each of its shards: null where none is known. */
async function writersOn(group: GroupAddress | undefined): Promise<readonly (number | null)[]> {
  const server = clientTo(group);
  const known = 'SELECT writer_id = @@server_id FROM schemaless.shard WHERE datastore = ? ORDER BY shard';
  const rows = await select(server, known, name);
  await server.close();
  return rows.map(([is]) => (is === null ? null : Number(is)));
}
const countDatabases = async () => (await Promise.all(groups.map((group) => databasesOn(group, name)))).flat().length;

describe('migrate', () => {
  it('retries a change that waited for a lock of another session, some times', async () => {
    const refused = new Map<string, number>();
    const locked = (times: number) => (group: GroupAddress) => {
      const server = clientTo(group);
      const change = async (statement: Statement) => {
        const key = `${group.name} ${statement.sql}`;
        const before = refused.get(key) ?? 0;
        refused.set(key, before + 1);
        if (before < times) throw new SqlError('contention', 'Lock wait timeout exceeded', { errno: 1205 });
        return server.change(statement);
      };
      return { ...server, change };
    };
    await expect(run(desiredFor(3), { connect: locked(20) })).rejects.toThrow('Lock wait timeout exceeded');
    refused.clear();
    expect(await run(desiredFor(3), { connect: locked(2) })).toBe(true);
  });

  it('spreads shards over the groups and creates each database where the topology says', async () => {
    expect(await run(desiredFor(10))).toBe(true);
    const topology = await readDatastore(topologyTable, name);
    expect(topology?.homes.map(({ group, epoch }) => `${group}/${epoch}`)).toEqual(
      Array.from({ length: 10 }, (_, shard) => `group-${(shard % 3) + 1}/1`),
    );
    for (const group of groups) {
      const wanted = topology?.homes.flatMap((home, shard) =>
        home.group === group.name ? [`${name}_000${shard}`] : [],
      );
      expect(await databasesOn(group, name)).toEqual(wanted);
    }
  });

  it('stops when its time is up, and goes on where it stopped: no shard is taken for one whose cells were lost', async () => {
    const desired = desiredFor(210);
    let pages = 0;
    // Three groups ask before each page of 64.
    expect(await run(desired, { bufferCopies: 1, mayGoOn: () => (pages += 1) <= 4 })).toBe(false);
    expect(await readDatastore(topologyTable, name)).toMatchObject({ isBeingMade: true });
    const half = await countDatabases();
    expect(half).toBeGreaterThan(0);
    expect(half).toBeLessThan(210);
    expect(await run(desired, { bufferCopies: 1 })).toBe(true);
    expect(await countDatabases()).toBe(210);
    expect(await readDatastore(topologyTable, name)).not.toHaveProperty('isBeingMade');
    const deployment = openDeployment({ topology: dynamoTopology(topologyTable), connect: clientTo, bufferCopies: 1 });
    const written = await (await deployment.datastore(name)).batchPut(Array.from({ length: 100 }, () => cellOf()));
    await deployment.close();
    expect(new Set(written.map(({ outcome }) => outcome))).toEqual(new Set(['stored']));
  });

  it('does not take a shard that its server never got for one that never was', async () => {
    const desired = desiredFor(6);
    await run(desired, { bufferCopies: 1 });
    expect(await writersOn(groups[0])).toEqual([1, 1]);
    const server = clientTo(groups[0]);
    await change(server, 'DELETE FROM schemaless.shard WHERE datastore = ? AND shard = 3', name);
    await change(server, `DROP DATABASE ${name}_0003`);
    await server.close();
    await run(desired, { bufferCopies: 1 });
    expect(await writersOn(groups[0])).toEqual([1, 0]);
  });

  it('takes those that write for whole where a third group turns copies on', async () => {
    const writers = async () => [...(await writersOn(groups[0])), ...(await writersOn(groups[1]))];
    await run(desiredFor(4, groups.slice(0, 2)));
    expect(await writers()).toEqual([null, null, null, null]);
    await run(desiredFor(4), { bufferCopies: 1 });
    expect(await writers()).toEqual([1, 1, 1, 1]);
  });

  it('never computes the place of a shard again: added groups get none of it', async () => {
    await run(desiredFor(4, groups.slice(0, 2)));
    const before = await readDatastore(topologyTable, name);
    await run(desiredFor(4));
    expect(await readDatastore(topologyTable, name)).toEqual(before);
    expect((await dynamoTopology(topologyTable).groups()).map((group) => group.name)).toEqual([
      'group-1',
      'group-2',
      'group-3',
    ]);
  });

  it('refuses another shard count, and to lose a group that owns shards, and changes nothing', async () => {
    await run(desiredFor(6));
    await expect(run(desiredFor(8))).rejects.toThrow(
      `datastore ${name}: wanted its 6 shards, fixed when it was created, got 8`,
    );
    const lacking = `groups: wanted group-1 among them, which owns shards of ${name} (0, 3), got group-2, group-3`;
    await expect(run(desiredFor(6, groups.slice(1)))).rejects.toThrow(lacking);
    // No definition declares the datastore any more, and its cells are still read.
    await expect(run({ groups: groups.slice(1), datastores: [] })).rejects.toThrow(lacking);
    expect(await dynamoTopology(topologyTable).groups()).toHaveLength(3);
    expect((await readDatastore(topologyTable, name))?.shards).toBe(6);
  });

  it('refuses to lose a group that shards are being moved to', async () => {
    await run(desiredFor(12, groups.slice(0, 2)));
    await run(desiredFor(12));
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
    await expect(run(desiredFor(12, groups.slice(0, 2)))).rejects.toThrow(
      `groups: wanted group-3 among them, which shards of ${name} are being moved to (2, 10), got group-1, group-2`,
    );
    expect(await dynamoTopology(topologyTable).groups()).toHaveLength(3);
    expect(await run(desiredFor(12))).toBe(true);
  });

  it('lists the triggers of a datastore once its shards are there', async () => {
    const trigger: DeployedTrigger = {
      definition: triggerNamed('bill'),
      queueUrl: 'http://localhost/bill.fifo',
      parkedQueueUrl: 'http://localhost/parked.fifo',
    };
    const desired: DesiredState = { groups, datastores: [{ name, shards: 6, indexes: [], triggers: [trigger] }] };
    expect(await run(desired, { mayGoOn: () => false })).toBe(false);
    expect(await dynamoTopology(topologyTable).triggers(name)).toEqual([]);
    expect(await run(desired)).toBe(true);
    expect(await dynamoTopology(topologyTable).triggers(name)).toEqual([trigger]);
  });
});

const byDriver: IndexDefinition = {
  name: 'by_driver',
  fields: [
    { field: 'driver', type: 'UUID', column_key: 'BASE' },
    { field: 'city', type: 'string', column_key: 'BASE' },
    { field: 'fare.total', type: 'number', column_key: 'BASE' },
    { field: 'at', type: 'datetime', column_key: 'BASE' },
    { field: 'zone', type: 'integer', column_key: 'BASE' },
    { field: 'done', type: 'boolean', column_key: 'STATUS' },
  ],
  keys: [
    ['city', 'at'],
    ['at', 'city', 'done'],
  ],
};
const changed: IndexDefinition = { ...byDriver, keys: [] };
const byRider = indexOn('by_rider', { rider: 'string' });
const tableOf = (definition: IndexDefinition): string => `${definition.name}_${definitionHash(definition)}`;

const runWith = (indexes: readonly IndexDefinition[], more?: Partial<Migration>, shards = 6): Promise<boolean> =>
  run(desiredFor(shards, groups, indexes), more);

/** How many shards' databases have each table of an index, in all groups. */
async function tables(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const group of groups) {
    const sql = clientTo(group);
    const rows = await select(
      sql,
      "SELECT table_name FROM information_schema.tables WHERE table_schema LIKE ? AND table_name <> 'entity'",
      `${name.replaceAll('_', String.raw`\_`)}\\_%`,
    );
    await sql.close();
    for (const [table] of rows) counts[String(table)] = (counts[String(table)] ?? 0) + 1;
  }
  return counts;
}

/** `{by_driver: 'live building'}` */
async function states(): Promise<Record<string, string>> {
  const catalogues = await dynamoTopology(topologyTable).indexes(name);
  return Object.fromEntries(
    catalogues.map((index) => [index.name, index.versions.map(({ state }) => state).join(' ')]),
  );
}

describe('migrate, with indexes', () => {
  it('creates those of a new datastore live, with a table in every shard', async () => {
    expect(await runWith([byDriver, byRider])).toBe(true);
    expect(await states()).toEqual({ by_driver: 'live', by_rider: 'live' });
    expect(await tables()).toEqual({ [tableOf(byDriver)]: 6, [tableOf(byRider)]: 6 });
    const [index] = await dynamoTopology(topologyTable).indexes(name);
    expect(index?.versions).toEqual([{ hash: definitionHash(byDriver), definition: byDriver, state: 'live' }]);
  });

  it('has the tables of live indexes in each open shard, and lists an added one once every table is there, also when cut off', async () => {
    let asked = 0;
    expect(await runWith([byRider], { mayGoOn: () => (asked += 1) <= 3 }, 200)).toBe(false);
    expect(await states()).toEqual({ by_rider: 'live' });
    expect((await tables())[tableOf(byRider)]).toBeGreaterThanOrEqual(150);
    expect(await runWith([byRider], {}, 200)).toBe(true);
    expect([await tables(), await states()]).toEqual([{ [tableOf(byRider)]: 200 }, { by_rider: 'live' }]);
    asked = 0;
    expect(await runWith([byRider, byDriver], { mayGoOn: () => (asked += 1) <= 4 }, 200)).toBe(false);
    const half = (await tables())[tableOf(byDriver)] ?? 0;
    expect(half).toBeGreaterThan(0);
    expect(half).toBeLessThan(200);
    expect(await states()).toEqual({ by_rider: 'live' });
    expect(await runWith([byRider, byDriver], {}, 200)).toBe(true);
    expect(await tables()).toEqual({ [tableOf(byRider)]: 200, [tableOf(byDriver)]: 200 });
    expect(await states()).toEqual({ by_driver: 'building', by_rider: 'live' });
  });

  it('builds a changed one next to the live one, and retires those removed', async () => {
    await runWith([byDriver, byRider]);
    await runWith([changed]);
    expect(await states()).toEqual({ by_driver: 'live building', by_rider: 'retired' });
    expect(await tables()).toEqual({ [tableOf(byDriver)]: 6, [tableOf(changed)]: 6, [tableOf(byRider)]: 6 });
    await setIndexState(
      topologyTable,
      { datastore: name, name: 'by_driver' },
      definitionHash(changed),
      'building',
      'live',
    );
    await runWith([changed, byRider]);
    expect(await states()).toEqual({ by_driver: 'retired live', by_rider: 'retired building' });
    // One that is wanted again has new tables, whatever is left of the old ones.
    expect(await tables()).toMatchObject({ [tableOf(byRider)]: 6, [`by_rider_${definitionHash(byRider, 1)}`]: 6 });
  });

  it('can be repeated, and run twice at once, without touching anything', async () => {
    expect(await Promise.all([runWith([byRider]), runWith([byRider])])).toEqual([true, true]);
    expect(
      await Promise.all([runWith([byRider, byDriver]), runWith([byRider, byDriver]), runWith([byRider, byDriver])]),
    ).toEqual([true, true, true]);
    expect(await states()).toEqual({ by_driver: 'building', by_rider: 'live' });
    const before = await dynamoTopology(topologyTable).indexes(name);
    const statements: string[] = [];
    const watched = (address: GroupAddress): SqlClient => {
      const sql = watchedClient(address, (changing) => statements.push(changing));
      return { ...sql, select: (statement, target) => (statements.push(statement.sql), sql.select(statement, target)) };
    };
    expect(await runWith([byRider, byDriver], { connect: watched })).toBe(true);
    expect(await dynamoTopology(topologyTable).indexes(name)).toEqual(before);
    // Which steps each group has taken, which shards it has, and whether its writer is fenced: nothing is asked of the
    // indexes.
    expect(statements.filter((sql) => /^(?:CREATE|INSERT)|\bindex|table_name = \?/iu.test(sql))).toEqual([]);
    expect(statements).toHaveLength(4 * groups.length);
  });

  it('lets a group that is gone fail it, and goes on when it is back', async () => {
    await runWith([byRider]);
    const failing = (address: GroupAddress): SqlClient =>
      watchedClient(address, async () => {
        if (address.name === 'group-2') throw new Error('gone');
      });
    await expect(runWith([byRider, byDriver], { connect: failing })).rejects.toThrow('gone');
    expect(await states()).toEqual({ by_rider: 'live' });
    expect(await runWith([byRider, byDriver])).toBe(true);
    expect(await tables()).toEqual({ [tableOf(byRider)]: 6, [tableOf(byDriver)]: 6 });
  });
});
