import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { startShardGroups, type ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import { CONTROL_STEPS } from '../../../shared/migrate/steps.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { contentsOf, controlRows, tablesOf, withClient, type Contents } from './contents.ts';
import { cutOff } from './cut-off.ts';
import { appendThen, bufferThen, leaveRelease, STORED_A_SHARD, type Held, type Release } from './release.ts';
import { runningGroups } from './running-groups.ts';

const NEWEST = CONTROL_STEPS.length;
/** Those that a store may stand at when this release comes. */
const EARLIER = Array.from({ length: NEWEST }, (_, steps) => steps);
const EARLIER_RELEASES = EARLIER.filter((steps) => steps > 0);

const folder = folderOfTests();
const dynamo = dynamoClient(inject('servers').dynamo);
const definition = loadDefinitions(join(import.meta.dirname, 'datastores')).datastores[0];
/** The tables that a first migration makes. */
let wanted: Contents;
let servers: ShardGroups;

// Servers of their own: those of the run have one control database for all files.
beforeAll(async () => {
  servers = await startShardGroups({
    dataDir: folder.path,
    engine: inject('servers').engine.kind,
    groups: [
      { name: 'group-1', readers: 0 },
      { name: 'group-2', readers: 0 },
    ],
    restartAfterSeconds: 0,
    shards: 16,
    log: () => undefined,
  });
  const { release } = await releaseOf(0);
  await run(release);
  wanted = await tables(release);
});
afterAll(async () => {
  await servers?.stop();
  dynamo.destroy();
});

/** What a release left, on servers that have nothing else. */
async function releaseOf(steps: number): Promise<{ readonly release: Release; readonly held: Held }> {
  if (!definition) throw new Error('wanted a datastore');
  const { groups, connect } = runningGroups(servers.groups);
  for (const group of groups) {
    await withClient(connect, group, async (client) => {
      const databases = await client.select(
        {
          sql: "SELECT schema_name FROM information_schema.schemata WHERE schema_name = 'schemaless' OR schema_name LIKE 'trips\\_%'",
          parameters: [],
        },
        'writer',
      );
      for (const [name] of databases) await client.change({ sql: `DROP DATABASE ${String(name)}`, parameters: [] });
    });
  }
  const release: Release = {
    steps,
    groups,
    connect,
    topologyTable: await newTable(dynamo),
    datastore: { ...definition, shards: 4 },
  };
  return { release, held: await leaveRelease(release) };
}

/** The migration of today; `connect` may stand between it and the groups. */
function run({ groups, topologyTable, datastore: { name, shards, indexes }, connect }: Release): Promise<boolean> {
  return migrate({
    topologyTable,
    connect,
    wish: { groups, datastores: [{ name, shards, indexes, triggers: [] }] },
    bufferCopies: 1,
    mayGoOn: () => true,
  });
}

/** The migration of today, cut off after so many changes on the first group. */
async function runCutOff(release: Release, after: number, end?: () => Promise<void>): Promise<number> {
  const cut = cutOff(after, end);
  const done = run({
    ...release,
    connect: (group) => (group.name === 'group-1' ? cut.wrap(release.connect(group)) : release.connect(group)),
  });
  if (after === Number.POSITIVE_INFINITY) expect(await done).toBe(true);
  else await expect(done).rejects.toThrow('cut off');
  return cut.changes;
}

async function tables(release: Release): Promise<Contents> {
  const [first, second] = await Promise.all(
    release.groups.map((group) => tablesOf(release, group, String.raw`trips\_%`)),
  );
  return {
    ...Object.fromEntries(Object.entries(first ?? {}).map(([what, rows]) => [`${what} of group-1`, rows])),
    ...second,
  };
}

const topology = async ({ topologyTable: { client, table } }: Release) =>
  (await client.send(new ScanCommand({ TableName: table }))).Items;

describe.each(EARLIER_RELEASES)('a store at step %i', (steps) => {
  it('gets the tables of a new one, keeps what was there, and is not changed by a second migration', async () => {
    const { release } = await releaseOf(steps);
    const before = await contentsOf(release);
    expect(await run(release)).toBe(true);
    expect(await tables(release)).toEqual(wanted);
    expect(await contentsOf(release)).toEqual(before);
    const after = [await controlRows(release), await topology(release)];
    expect(await run(release)).toBe(true);
    expect([await controlRows(release), await topology(release)]).toEqual(after);
    expect(await tables(release)).toEqual(wanted);
  });

  it('takes what functions of that release still send when it has the new step', async () => {
    const { release, held } = await releaseOf(steps);
    await run(release);
    const {
      datastore: { name, shards },
      groups: [group],
      connect,
    } = release;
    if (!group) throw new Error('wanted a group');
    const [row_key = '', other = ''] = rowsOfShard(0, shards, 2);
    await withClient(connect, group, async (client) => {
      expect(await client.change(appendThen(name, { ...cellOf({ row_key }), shard: 0 }))).toEqual({
        affectedRows: 1,
        insertId: STORED_A_SHARD + 1,
      });
      expect((await client.change(bufferThen(name, { ...cellOf({ row_key: other }), shard: 0 }))).affectedRows).toBe(1);
    });
    const buffered = Object.entries(await controlRows(release)).flatMap(([what, rows]) =>
      what.startsWith('buffer') ? rows : [],
    );
    // A copy of each shard's first cell, and of the one that waits.
    expect(buffered).toHaveLength(2 * held.waiting.length + 1);
  });

  it('goes on after its server died between two statements', async () => {
    const { release } = await releaseOf(steps);
    const before = await contentsOf(release);
    await runCutOff(release, 1, () => servers.kill('group-1-a'));
    await servers.restart('group-1-a');
    // It takes connections again a moment after it was started.
    await expect.poll(() => run(release).catch(String)).toBe(true);
    expect([await tables(release), await contentsOf(release)]).toEqual([wanted, before]);
  });
});

/**
 * After how many of its changes a migration is cut off: after each, but for those that it shares with the migration from
 * the step after its first one, which is cut off there.
 */
function cutsOf(steps: number, changes: number): readonly number[] {
  const own = steps === 0 || steps === NEWEST - 1 ? changes : (CONTROL_STEPS[steps]?.length ?? 0) + 1;
  return Array.from({ length: own }, (_, change) => change + 1);
}

describe.each(EARLIER)('a migration from step %i', (steps) => {
  it('goes on wherever it was cut off', async () => {
    const { release: whole } = await releaseOf(steps);
    const changes = await runCutOff(whole, Number.POSITIVE_INFINITY);
    expect(changes).toBeGreaterThan(CONTROL_STEPS.slice(steps).flat().length);
    for (const after of cutsOf(steps, changes)) {
      const { release } = await releaseOf(steps);
      const before = steps > 0 ? await contentsOf(release) : undefined;
      await runCutOff(release, after);
      expect(await run(release), `cut off after ${after} of ${changes} changes`).toBe(true);
      expect(await tables(release), `cut off after ${after} of ${changes} changes`).toEqual(wanted);
      if (before) expect(await contentsOf(release), `cut off after ${after} of ${changes} changes`).toEqual(before);
    }
  });
});

describe('a store that a later release has changed', () => {
  it('is served by this one, to which it was rolled back', async () => {
    const { release } = await releaseOf(0);
    await run(release);
    const {
      groups,
      connect,
      datastore: { name, shards },
      topologyTable,
    } = release;
    for (const group of groups) {
      await withClient(connect, group, async (client) => {
        const databases = await client.select(
          {
            sql: "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'trips\\_%'",
            parameters: [],
          },
          'writer',
        );
        const altered = [
          'schemaless.shard',
          'schemaless.buffer',
          ...databases.map(([database]) => `${String(database)}.entity`),
        ];
        for (const table of altered)
          await client.change({ sql: `ALTER TABLE ${table} ADD COLUMN later INT UNSIGNED NULL`, parameters: [] });
        await client.change({
          sql: `INSERT INTO schemaless.migration (step, applied_at) VALUES (${NEWEST + 1}, SYSDATE(6))`,
          parameters: [],
        });
        await client.change({ sql: 'UPDATE schemaless.shard SET step = step + 1', parameters: [] });
      });
    }
    const before = [await controlRows(release), await tables(release)];
    expect(await run(release)).toBe(true);
    expect([await controlRows(release), await tables(release)]).toEqual(before);

    const deployment = openDeployment({ topology: dynamoTopology(topologyTable), connect, bufferCopies: 1 });
    onTestFinished(() => deployment.close());
    const trips = await deployment.datastore(name);
    const cells = rowsOfShard(1, shards, 2).map((row_key) => cellOf({ row_key, body: { city: 'Lisbon', fare: 1 } }));
    expect((await trips.batchPut(cells)).map(({ outcome }) => outcome)).toEqual(['stored', 'stored']);
    expect((await trips.batchGet(cells)).map((item) => item && 'body' in item && item.body)).toEqual(
      cells.map(({ body }) => body),
    );
    // A write waits for its entries for a moment only.
    await expect
      .poll(
        async () =>
          (await trips.query({ index: 'city_index', where: [{ field: 'city', operator: 'eq', values: ['Lisbon'] }] }))
            .entries,
      )
      .toHaveLength(2);
  });
});
