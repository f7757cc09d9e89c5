import { isDeepStrictEqual } from 'node:util';
import type { SqlClient, Statement } from '../sql/client.ts';
import { retryContention } from '../sql/retry-contention.ts';
import { shardDatabase } from '../address.ts';
import { toNumber, toText } from '../sql/cell-rows.ts';
import { CONTROL, quoteName } from '../sql/names.ts';
import { RESTORED } from '../sql/statements/record-writer.ts';
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
import { createIndexTable } from '../index/index-table.ts';
import type { IndexVersion } from '../topology/index-catalogue.ts';
import type { GroupAddress, DatastoreTopology } from '../topology/topology.ts';
import { deployTriggers } from './deployed-triggers.ts';
import type { MadeUser } from '../topology/database-users.ts';
import { checkDesiredState, noteDeployed, type DesiredState, type DesiredDatastore } from './check-desired-state.ts';
import { createUsers, type UserLogin } from './create-users.ts';
import {
  createIndexTables,
  listDesiredVersions,
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
  /** The table of offsets and state of triggers. @default the state of removed triggers stays */
  readonly stateTable?: DynamoTable;
  readonly connect: (group: GroupAddress) => SqlClient;
  readonly desired: DesiredState;
  /** Returns the credentials of the functions' users on a group's servers. */
  readonly logins?: (group: GroupAddress) => Promise<Readonly<Record<MadeUser, UserLogin>>>;
  /** The number of hints of each write. @default 0 */
  readonly bufferCopies?: number;
  /** Returns false once there is no time for another statement; the next call continues the migration. */
  readonly mayGoOn: () => boolean;
}

const ROWS_A_STATEMENT = 64;
/** A migration runs next to traffic: each try of a change waits a second for the transactions that use its table. */
const TRIES = 20;

/**
 * Brings control databases, users, the topology, shard databases, index tables and the catalogues of indexes and
 * triggers to the desired state. Only adds: touches no cell, never recomputes a shard's group, and leaves tables of
 * former indexes to the repair. Repeatable at any time; continues where it stopped.
 *
 * Keeps what was applied through the API (`defined.ts`), until a deployment defines it as well. Retires datastores that
 * are neither desired nor applied: their data stays, and requests do not find them until they are desired again.
 *
 * @returns whether everything is done
 * @throws Error if the desired state has another shard count, or lacks a group that owns shards
 */
export async function migrate(given: Migration): Promise<boolean> {
  const { topologyTable } = given;
  const { datastores: deployed } = given.desired;
  const clients = new Map(given.desired.groups.map((group) => [group.name, withPatience(given.connect(group))]));
  try {
    const applied = given.desired.isPart ? [] : await readApplied(topologyTable);
    const desired = { ...given.desired, datastores: withApplied(deployed, applied) };
    await checkDesiredState(topologyTable, desired);
    if (!desired.isPart) await noteDeployed(topologyTable, given.desired);
    const migration = { ...given, desired };
    const retired = desired.isPart ? [] : await retiredDatastores(topologyTable, desired.datastores);
    const names = [...desired.datastores, ...retired.map(({ definition }) => definition)].map(({ name }) => name);
    const onEach = <T>(step: (group: GroupAddress, client: SqlClient) => Promise<T>): Promise<readonly T[]> =>
      Promise.all(desired.groups.map((group) => step(group, clients.get(group.name) as SqlClient)));
    await onEach((_, client) => stepControl(client));
    const { logins } = given;
    if (logins) await onEach(async (group, client) => createUsers(client, await logins(group), names));
    await writeGroups(topologyTable, desired.groups);
    const datastores: MigratedDatastore[] = [];
    for (const definition of desired.datastores) {
      const prepared = await prepareDatastore(topologyTable, definition, desired.groups);
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
      datastores.map(({ definition, versions }) => listDesiredVersions(topologyTable, definition, versions.missing)),
    );
    if (listed.includes(false)) return false;
    // After the versions of indexes: a writer that seals a field must know which indexes need its hash.
    for (const { definition, topology } of datastores)
      if (!isDeepStrictEqual(definition.sealed, topology.sealed))
        await writeSealed(topologyTable, definition.name, definition.sealed);
    // After the shards exist: a trigger's workers read them.
    await deployTriggers(migration, desired.datastores, { isPart: desired.isPart });
    await forgetDeployed(topologyTable, deployed, applied);
    return true;
  } finally {
    await Promise.all([...clients.values()].map((client) => client.close()));
  }
}

/**
 * Lets only the server that has every acknowledged cell accept appends, and takes the first writer for it: see
 * `recover-primary`. Applies if writes have hints on other groups and the group's nodes do not share storage.
 */
async function fenceWriter(migration: Migration, group: GroupAddress, client: SqlClient): Promise<void> {
  const { desired } = migration;
  if (desired.datastores.length === 0) return;
  const change = isFenced(migration, group)
    ? 'SET writer_id = @@server_id WHERE writer_id IS NULL'
    : `SET writer_id = NULL WHERE writer_id <> ${RESTORED}`;
  await client.change({
    sql: `UPDATE ${CONTROL}.shard ${change} AND datastore IN (${desired.datastores.map(() => '?').join(', ')})`,
    parameters: desired.datastores.map((datastore) => datastore.name),
  });
}

function withPatience(client: SqlClient): SqlClient {
  return { ...client, change: (statement) => retryContention(TRIES, () => client.change(statement)) };
}

interface WantedShard {
  readonly datastore: string;
  readonly shard: number;
  readonly epoch: number;
  /** The step that its database has reached, 0 when there is none. */
  readonly step: number;
  /** Index versions whose tables it needs before it opens. */
  readonly versions: readonly IndexVersion[];
  /** Whether its datastore existed before. */
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
  for (const version of versions) await client.change(createIndexTable(database, version));
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

function hasCopies({ bufferCopies = 0, desired }: Migration): boolean {
  return bufferCopies > 0 && desired.groups.length > 1;
}

/**
 * Returns what to record as the writer of a new shard: the server that answers, if nodes have separate storage. A shard
 * that an existing datastore lacks may have been lost by a promotion, or by its group's restore to a point in time.
 * No server is known to have its cells, so its hints are recovered first.
 */
function writerOf(migration: Migration, group: GroupAddress): (shard: WantedShard) => string {
  const first = isFenced(migration, group) ? '@@server_id' : 'NULL';
  return ({ isKnown }) => (isKnown && hasCopies(migration) ? String(RESTORED) : first);
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
  readonly definition: DesiredDatastore;
  readonly topology: DatastoreTopology;
  readonly versions: DatastoreVersions;
  /** Whether all its shards existed before: cells of each may have been acknowledged. */
  readonly isKnown: boolean;
}

/** Adds a new datastore to the topology; its shards open one by one later. */
async function prepareDatastore(
  topologyTable: DynamoTable,
  definition: DesiredDatastore,
  groups: readonly GroupAddress[],
): Promise<MigratedDatastore> {
  let topology = await readDatastore(topologyTable, definition.name);
  const isKnown = topology !== undefined && topology.isBeingMade !== true;
  if (!topology) {
    // Before the datastore itself, so that the writer of its first cell knows its indexes.
    await listFirstVersions(topologyTable, definition);
    topology = await createDatastore(topologyTable, spread(definition, groups));
  }
  return { definition, topology, isKnown, versions: await readVersions(topologyTable, definition) };
}

/** Returns the existing datastores that are not desired; their shards stay up to date. */
async function retiredDatastores(
  topologyTable: DynamoTable,
  desired: readonly DesiredDatastore[],
): Promise<readonly MigratedDatastore[]> {
  const all = dynamoTopology(topologyTable);
  const retired: MigratedDatastore[] = [];
  for (const name of await all.datastores()) {
    const topology = await all.datastore(name);
    if (!topology || desired.some((one) => one.name === name)) continue;
    const definition = { name, shards: topology.shards, indexes: [], triggers: [] };
    const versions = await readVersions(topologyTable, definition);
    retired.push({ definition, topology, isKnown: topology.isBeingMade !== true, versions });
  }
  return retired;
}

/** Distributes a new datastore's shards round-robin over the groups. */
function spread(
  { name: datastore, shards, sealed }: DesiredDatastore,
  groups: readonly GroupAddress[],
): DatastoreTopology {
  const homes = Array.from({ length: shards }, (_, shard) => ({
    group: groups[shard % groups.length]?.name ?? '',
    epoch: 1,
  }));
  return { datastore, shards, homes, ...(sealed && { sealed }) };
}
