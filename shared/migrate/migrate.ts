import { isDeepStrictEqual } from 'node:util';
import type { SqlClient, Statement } from '../sql/client.ts';
import { shardDatabase } from '../address.ts';
import { toNumber, toText } from '../sql/cell-rows.ts';
import { CONTROL, quoteName } from '../sql/names.ts';
import { SET_BACK } from '../sql/statements/record-writer.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { readApplied } from '../topology/defined.ts';
import { endMaking, writeGroups, writeRetention, writeSealed } from '../topology/dynamo-topology.ts';
import type { IndexVersion } from '../topology/index-catalogue.ts';
import type { GroupAddress } from '../topology/topology.ts';
import { deployTriggers } from './deployed-triggers.ts';
import type { MadeUser } from '../topology/database-users.ts';
import { checkWish, noteDeployed, type MigrationWish } from './check-wish.ts';
import { createUsers, type UserLogin } from './create-users.ts';
import { createIndexTables, indexTableStatement, listWishedVersions } from './index-versions.ts';
import { sideBySide } from '../side-by-side.ts';
import { prepareDatastore, retiredDatastores, type MigratedDatastore } from './prepare-datastore.ts';
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
    await onEach((group, client) => makeUsers(migration, group, client, names));
    await writeGroups(topologyTable, wish.groups);
    const datastores: MigratedDatastore[] = [];
    for (const definition of wish.datastores) {
      const prepared = await prepareDatastore(topologyTable, definition, wish.groups);
      await keepRetention(topologyTable, prepared);
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
    for (const datastore of datastores) await keepSealed(topologyTable, datastore);
    // When their shards are there: who works for a trigger reads them.
    await deployTriggers(migration, wish.datastores, { isPart: wish.isPart });
    await forgetDeployed(topologyTable, deployed, applied);
    return true;
  } finally {
    await Promise.all([...clients.values()].map((client) => client.close()));
  }
}

async function keepRetention(table: DynamoTable, { definition, topology }: MigratedDatastore): Promise<void> {
  const { name, retention } = definition;
  if (!isDeepStrictEqual(retention, topology.retention)) await writeRetention(table, name, retention);
}

async function keepSealed(table: DynamoTable, { definition, topology }: MigratedDatastore): Promise<void> {
  const { name, sealed } = definition;
  if (!isDeepStrictEqual(sealed, topology.sealed)) await writeSealed(table, name, sealed);
}

async function makeUsers(
  { logins }: Migration,
  group: GroupAddress,
  client: SqlClient,
  datastores: readonly string[],
): Promise<void> {
  if (logins) await createUsers(client, await logins(group), datastores);
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
  const database = quoteName(shardDatabase(datastore, shard));
  for (const statements of SHARD_STEPS.slice(step)) {
    for (const sql of statements(database)) await client.change({ sql, parameters: [] });
  }
  for (const version of versions) await client.change(indexTableStatement(datastore, shard, version));
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
