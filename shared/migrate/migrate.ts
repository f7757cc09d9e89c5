import { isDeepStrictEqual } from 'node:util';
import type { SqlClient, Statement } from '../sql/client.ts';
import { shardDatabase } from '../address.ts';
import { toNumber, toText } from '../sql/cell-rows.ts';
import { CONTROL, quoteName } from '../sql/names.ts';
import { SET_BACK } from '../sql/statements/record-writer.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { readApplied } from '../topology/defined.ts';
import {
  endMaking,
  writeGroups,
  writeRetention,
  writeSealed,
  createDatastore,
  dynamoTopology,
  readDatastore,
} from '../topology/dynamo-topology.ts';
import type { IndexVersion } from '../topology/index-catalogue.ts';
import type { GroupAddress, DatastoreTopology } from '../topology/topology.ts';
import { deployTriggers } from './deployed-triggers.ts';
import type { MadeUser } from '../topology/database-users.ts';
import { checkWish, noteDeployed, type MigrationWish, type WishedDatastore } from './check-wish.ts';
import { createUsers, type UserLogin } from './create-users.ts';
import {
  createIndexTables,
  indexTableStatement,
  listWishedVersions,
  listFirstVersions,
  readVersions,
  type DatastoreVersions,
} from './index-versions.ts';
import { sideBySide } from '../side-by-side.ts';
import { stepControl, SHARD_STEPS } from './steps.ts';
import { forgetDeployed, withApplied } from './with-applied.ts';
import { slicesOf } from '../slices-of.ts';

export interface Migration {
  readonly topologyTable: DynamoTable;
  /** Where offsets and state of triggers are. @default what is kept there of removed triggers stays */
  readonly stateTable?: DynamoTable;
  readonly connect: (group: GroupAddress) => SqlClient;
  readonly wish: MigrationWish;
  /** Of the users that functions are on a group's servers. */
  readonly logins?: (group: GroupAddress) => Promise<Readonly<Record<MadeUser, UserLogin>>>;
  /** Of each write, on other groups. @default 0 */
  readonly bufferCopies?: number;
  /** False once there is no time for another statement: the migration then goes on when called again. */
  readonly mayGoOn: () => boolean;
}

const ROWS_A_STATEMENT = 64;

/**
 * Brings every group's control database and users, the topology, the shards' databases, the indexes' catalogue and
 * tables and the triggers' catalogue to what is wished. Only adds: no cell is touched, a shard's group, once written,
 * is never computed again, and the tables of indexes that are not wished any more stay until someone drops them. Can be
 * repeated at any time and goes on where it stopped.
 *
 * What was applied through the API (`defined.ts`) stays, unless it is wished by now, too. Datastores that are
 * neither wished nor applied are retired: their data stays, and requests do not find them until they are wished again.
 *
 * @returns whether everything is done
 * @throws Error naming what is wrong with the wish: another shard count, a group gone that still owns shards
 */
export async function migrate(given: Migration): Promise<boolean> {
  const { topologyTable } = given;
  const { datastores: deployed } = given.wish;
  const clients = new Map(given.wish.groups.map((group) => [group.name, given.connect(group)]));
  try {
    const applied = given.wish.isPart ? [] : await readApplied(topologyTable);
    const wish = { ...given.wish, datastores: withApplied(deployed, applied) };
    await checkWish(topologyTable, wish);
    if (!wish.isPart) await noteDeployed(topologyTable, given.wish);
    const migration = { ...given, wish };
    const retired = wish.isPart ? [] : await retiredDatastores(topologyTable, wish.datastores);
    const names = [...wish.datastores, ...retired.map(({ definition }) => definition)].map(({ name }) => name);
    const onEach = <T>(step: (group: GroupAddress, client: SqlClient) => Promise<T>): Promise<readonly T[]> =>
      Promise.all(wish.groups.map((group) => step(group, clients.get(group.name) as SqlClient)));
    await onEach((_, client) => stepControl(client));
    const { logins } = given;
    if (logins) await onEach(async (group, client) => createUsers(client, await logins(group), names));
    await writeGroups(topologyTable, wish.groups);
    const datastores: MigratedDatastore[] = [];
    for (const definition of wish.datastores) {
      const prepared = await prepareDatastore(topologyTable, definition, wish.groups);
      if (!isDeepStrictEqual(definition.retention, prepared.topology.retention))
        await writeRetention(topologyTable, definition.name, definition.retention);
      datastores.push(prepared);
    }
    const all = [...datastores, ...retired];
    if ((await onEach((group, client) => createShards(migration, group, client, all))).includes(false)) return false;
    if ((await onEach((group, client) => createTables(given, group, client, datastores))).includes(false)) return false;
    await onEach((group, client) => fenceWriter(migration, group, client));
    for (const { topology, isKnown } of datastores) if (!isKnown) await endMaking(topologyTable, topology.datastore);
    const listed = await Promise.all(
      datastores.map(({ definition, versions }) => listWishedVersions(topologyTable, definition, versions.missing)),
    );
    if (listed.includes(false)) return false;
    // Behind the versions of indexes: whoever seals a field knows which of them have it, and gives them its hash.
    for (const { definition, topology } of datastores)
      if (!isDeepStrictEqual(definition.sealed, topology.sealed))
        await writeSealed(topologyTable, definition.name, definition.sealed);
    // When their shards are there: who works for a trigger reads them.
    await deployTriggers(migration, wish.datastores, { isPart: wish.isPart });
    await forgetDeployed(topologyTable, deployed, applied);
    return true;
  } finally {
    await Promise.all([...clients.values()].map((client) => client.close()));
  }
}

/**
 * Where writes have copies on other groups and the nodes of a group do not share their storage, only the writer that is
 * known to have every acknowledged cell takes appends: see `recover-primary`. Here the first one is taken for that.
 */
async function fenceWriter(migration: Migration, group: GroupAddress, client: SqlClient): Promise<void> {
  const { wish } = migration;
  if (wish.datastores.length === 0) return;
  const change = isFenced(migration, group)
    ? 'SET writer_id = @@server_id WHERE writer_id IS NULL'
    : `SET writer_id = NULL WHERE writer_id <> ${SET_BACK}`;
  await client.change({
    sql: `UPDATE ${CONTROL}.shard ${change} AND datastore IN (${wish.datastores.map(() => '?').join(', ')})`,
    parameters: wish.datastores.map((datastore) => datastore.name),
  });
}

interface WantedShard {
  readonly datastore: string;
  readonly shard: number;
  readonly epoch: number;
  /** The step that its database has reached, 0 when there is none. */
  readonly step: number;
  /** Index versions that it has to have before it opens. */
  readonly versions: readonly IndexVersion[];
  /** Its datastore was there before. */
  readonly isKnown: boolean;
}

/** Creates or upgrades the databases of a group's shards. The rows that open the shards come last. */
async function createShards(
  migration: Migration,
  group: GroupAddress,
  client: SqlClient,
  datastores: readonly MigratedDatastore[],
): Promise<boolean> {
  const { mayGoOn } = migration;
  const rows = await client.select(
    { sql: `SELECT datastore, shard, step FROM ${CONTROL}.shard`, parameters: [] },
    'writer',
  );
  const reached = new Map(rows.map((row) => [shardDatabase(toText(row[0]), toNumber(row[1])), toNumber(row[2])]));
  const wanted = datastores
    .flatMap(({ topology: { datastore, homes }, versions, isKnown }) =>
      homes.map((home, shard) => ({
        datastore,
        shard,
        ...home,
        step: reached.get(shardDatabase(datastore, shard)) ?? 0,
        versions: versions.listed,
        isKnown,
      })),
    )
    .filter((shard) => shard.group === group.name && shard.step < SHARD_STEPS.length);
  for (const page of slicesOf(wanted, ROWS_A_STATEMENT)) {
    if (!mayGoOn()) return false;
    await sideBySide(page, (shard) => createDatabase(client, shard));
    await client.change(upsertShards(page, writerOf(migration, group)));
  }
  return true;
}

async function createDatabase(client: SqlClient, { datastore, shard, step, versions }: WantedShard): Promise<void> {
  const database = shardDatabase(datastore, shard);
  for (const statements of SHARD_STEPS.slice(step))
    for (const sql of statements(quoteName(database))) await client.change({ sql, parameters: [] });
  for (const version of versions) await client.change(indexTableStatement(database, version));
}

/** Creates the tables of the index versions that are to be listed. */
async function createTables(
  { mayGoOn }: Migration,
  { name: group }: GroupAddress,
  client: SqlClient,
  datastores: readonly MigratedDatastore[],
): Promise<boolean> {
  for (const { topology, versions } of datastores) {
    for (const version of versions.missing) {
      if (!(await createIndexTables(client, group, topology, version, mayGoOn))) return false;
    }
  }
  return true;
}

function isFenced(migration: Migration, { sharedStorage }: GroupAddress): boolean {
  return hasCopies(migration) && !sharedStorage;
}

function hasCopies({ bufferCopies = 0, wish }: Migration): boolean {
  return bufferCopies > 0 && wish.groups.length > 1;
}

/**
 * What is recorded as the writer of a new shard: where its nodes have files of their own, the one that answers, from its
 * first cell on. One that is missing from a datastore which was there before may be one that a promoted reader never
 * got, or that was made after the moment to which its group was set back: nobody is known to have its cells, so that
 * whatever there are copies of is brought back first.
 */
function writerOf(migration: Migration, group: GroupAddress): (shard: WantedShard) => string {
  const first = isFenced(migration, group) ? '@@server_id' : 'NULL';
  return ({ isKnown }) => (isKnown && hasCopies(migration) ? String(SET_BACK) : first);
}

function upsertShards(shards: readonly WantedShard[], writer: (shard: WantedShard) => string): Statement {
  return {
    sql:
      `INSERT INTO ${CONTROL}.shard (datastore, shard, epoch, step, writer_id, head_epoch) ` +
      `VALUES ${shards.map((shard) => `(?, ?, ?, ?, ${writer(shard)}, epoch)`).join(', ')} ` +
      `ON DUPLICATE KEY UPDATE step = GREATEST(step, VALUES(step))`,
    parameters: shards.flatMap(({ datastore, shard, epoch }) => [datastore, shard, epoch, SHARD_STEPS.length]),
  };
}

interface MigratedDatastore {
  readonly definition: WishedDatastore;
  readonly topology: DatastoreTopology;
  readonly versions: DatastoreVersions;
  /** All its shards have been there before: cells of each may have been acknowledged. */
  readonly isKnown: boolean;
}

/** Puts a datastore that is new on the map; its shards open one by one later. */
async function prepareDatastore(
  topologyTable: DynamoTable,
  definition: WishedDatastore,
  groups: readonly GroupAddress[],
): Promise<MigratedDatastore> {
  let topology = await readDatastore(topologyTable, definition.name);
  const isKnown = topology !== undefined && topology.isBeingMade !== true;
  if (!topology) {
    // Before the datastore itself: whoever writes its first cell knows its indexes.
    await listFirstVersions(topologyTable, definition);
    topology = await createDatastore(topologyTable, spread(definition, groups));
  }
  return { definition, topology, isKnown, versions: await readVersions(topologyTable, definition) };
}

/** Returns the datastores that are there and are not wished: their shards are kept up to date. */
async function retiredDatastores(
  topologyTable: DynamoTable,
  wished: readonly WishedDatastore[],
): Promise<readonly MigratedDatastore[]> {
  const all = dynamoTopology(topologyTable);
  const retired: MigratedDatastore[] = [];
  for (const name of await all.datastores()) {
    const topology = await all.datastore(name);
    if (!topology || wished.some((one) => one.name === name)) continue;
    const definition = { name, shards: topology.shards, indexes: [], triggers: [] };
    const versions = await readVersions(topologyTable, definition);
    retired.push({ definition, topology, isKnown: topology.isBeingMade !== true, versions });
  }
  return retired;
}

/** The first distribution of a datastore's shards: round the groups. */
function spread(
  { name: datastore, shards, sealed }: WishedDatastore,
  groups: readonly GroupAddress[],
): DatastoreTopology {
  const homes = Array.from({ length: shards }, (_, shard) => ({
    group: groups[shard % groups.length]?.name ?? '',
    epoch: 1,
  }));
  return { datastore, shards, homes, ...(sealed && { sealed }) };
}
