import { randomBytes } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { definitionHash, setIndexState, forgetIndexVersion } from '../../../shared/topology/index-catalogue.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import { clientTo } from '../../support/connection-to.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { indexOn } from '../../support/index-on.ts';
import { select } from '../../support/plain-sql.ts';

const { groups, dynamo } = inject('servers');
const client = dynamoClient(dynamo);
let topologyTable: DynamoTable;
let name: string;
beforeEach(async () => {
  topologyTable = await newTable(client);
  name = `x_${randomBytes(4).toString('hex')}`;
});
afterAll(() => client.destroy());

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

interface Options {
  readonly shards?: number;
  readonly mayGoOn?: () => boolean;
  readonly connectWith?: (address: GroupAddress) => SqlClient;
}

const run = (
  indexes: readonly IndexDefinition[],
  { shards = 6, mayGoOn = () => true, connectWith = clientTo }: Options = {},
): Promise<boolean> =>
  migrate({
    topologyTable,
    connect: connectWith,
    wish: { groups, datastores: [{ name, shards, indexes, triggers: [] }] },
    mayGoOn,
  });

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
    expect(await run([byDriver, byRider])).toBe(true);
    expect(await states()).toEqual({ by_driver: 'live', by_rider: 'live' });
    expect(await tables()).toEqual({ [tableOf(byDriver)]: 6, [tableOf(byRider)]: 6 });
    const [index] = await dynamoTopology(topologyTable).indexes(name);
    expect(index?.versions).toEqual([{ hash: definitionHash(byDriver), definition: byDriver, state: 'live' }]);
  });

  it('has the tables of live indexes in each open shard, and lists an added one once every table is there, also when cut off', async () => {
    let asked = 0;
    expect(await run([byRider], { shards: 200, mayGoOn: () => (asked += 1) <= 3 })).toBe(false);
    expect(await states()).toEqual({ by_rider: 'live' });
    expect((await tables())[tableOf(byRider)]).toBeGreaterThanOrEqual(150);
    expect(await run([byRider], { shards: 200 })).toBe(true);
    expect([await tables(), await states()]).toEqual([{ [tableOf(byRider)]: 200 }, { by_rider: 'live' }]);
    asked = 0;
    expect(await run([byRider, byDriver], { shards: 200, mayGoOn: () => (asked += 1) <= 4 })).toBe(false);
    const half = (await tables())[tableOf(byDriver)] ?? 0;
    expect(half).toBeGreaterThan(0);
    expect(half).toBeLessThan(200);
    expect(await states()).toEqual({ by_rider: 'live' });
    expect(await run([byRider, byDriver], { shards: 200 })).toBe(true);
    expect(await tables()).toEqual({ [tableOf(byRider)]: 200, [tableOf(byDriver)]: 200 });
    expect(await states()).toEqual({ by_driver: 'building', by_rider: 'live' });
  });

  it('builds a changed one beside the live one, and retires those removed', async () => {
    await run([byDriver, byRider]);
    await run([changed]);
    expect(await states()).toEqual({ by_driver: 'live building', by_rider: 'retired' });
    expect(await tables()).toEqual({ [tableOf(byDriver)]: 6, [tableOf(changed)]: 6, [tableOf(byRider)]: 6 });
    await setIndexState(
      topologyTable,
      { datastore: name, name: 'by_driver' },
      definitionHash(changed),
      'building',
      'live',
    );
    await run([changed]);
    expect(await states()).toEqual({ by_driver: 'retired live', by_rider: 'retired' });
  });

  it('gives one that is wanted again new tables, whatever is left of the old ones', async () => {
    await run([byRider]);
    await run([]);
    expect(await run([byRider])).toBe(true);
    expect(await states()).toEqual({ by_rider: 'retired building' });
    expect(await tables()).toEqual({ [tableOf(byRider)]: 6, [`by_rider_${definitionHash(byRider, 1)}`]: 6 });
    expect(
      await forgetIndexVersion(topologyTable, { datastore: name, name: 'by_rider' }, definitionHash(byRider)),
    ).toBe(true);
    await run([byRider]);
    expect(await states()).toEqual({ by_rider: 'building' });
  });

  it('can be repeated, and run twice at once, without touching anything', async () => {
    expect(await Promise.all([run([byRider]), run([byRider])])).toEqual([true, true]);
    expect(await Promise.all([run([byRider, byDriver]), run([byRider, byDriver]), run([byRider, byDriver])])).toEqual([
      true,
      true,
      true,
    ]);
    expect(await states()).toEqual({ by_driver: 'building', by_rider: 'live' });
    const before = await dynamoTopology(topologyTable).indexes(name);
    const statements: string[] = [];
    const watched = (address: GroupAddress): SqlClient => {
      const sql = clientTo(address);
      return {
        ...sql,
        select: (statement, target) => (statements.push(statement.sql), sql.select(statement, target)),
        change: (statement) => (statements.push(statement.sql), sql.change(statement)),
      };
    };
    expect(await run([byRider, byDriver], { connectWith: watched })).toBe(true);
    expect(await dynamoTopology(topologyTable).indexes(name)).toEqual(before);
    // Which steps each group has taken, which shards it has, and whether its writer is fenced: nothing is asked of the
    // indexes.
    expect(statements.filter((sql) => /^(?:CREATE|INSERT)|\bindex|table_name = \?/iu.test(sql))).toEqual([]);
    expect(statements).toHaveLength(4 * groups.length);
  });

  it('lets a group that is gone fail it, and goes on when it is back', async () => {
    await run([byRider]);
    const failing = (address: GroupAddress): SqlClient => {
      const sql = clientTo(address);
      return address.name === 'group-2' ? { ...sql, change: async () => Promise.reject(new Error('gone')) } : sql;
    };
    await expect(run([byRider, byDriver], { connectWith: failing })).rejects.toThrow('gone');
    expect(await states()).toEqual({ by_rider: 'live' });
    expect(await run([byRider, byDriver])).toBe(true);
    expect(await tables()).toEqual({ [tableOf(byRider)]: 6, [tableOf(byDriver)]: 6 });
  });
});
