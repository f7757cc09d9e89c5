import type { SqlClient } from '../sql/client.ts';
import { shardDatabase } from '../shard.ts';
import { toNumber, toText } from '../sql/cell-rows.ts';
import { CONTROL, quoteName } from '../sql/names.ts';
import { createDatastore, readDatastore, writeGroups, type DynamoTable } from '../topology/dynamo-topology.ts';
import type { DatastoreTopology, GroupAddress } from '../topology/topology.ts';
import { CONTROL_STEPS, SHARD_STEPS } from './steps.ts';

export interface MigrationWish {
  readonly groups: readonly GroupAddress[];
  readonly datastores: readonly { readonly name: string; readonly shards: number }[];
}

export interface Migration {
  readonly topologyTable: DynamoTable;
  readonly connect: (group: GroupAddress) => SqlClient;
  readonly wish: MigrationWish;
  /** False once there is no time for another statement: the migration then goes on when called again. */
  readonly mayGoOn: () => boolean;
}

/** Shard databases created side by side on one group. */
const SIDE_BY_SIDE = 4;
/** Rows of `shard` written with one statement. */
const ROWS_A_STATEMENT = 64;

/**
 * Brings every group's control database, the topology and the shards' databases to what is wished. Only adds: nothing
 * that exists is touched, and a shard's group, once written, is never computed again. Can be repeated at any time and
 * goes on where it stopped.
 *
 * @returns whether everything is done
 * @throws Error naming what is wrong with the wish: another shard count, a group gone that still owns shards
 */
export async function migrate(migration: Migration): Promise<boolean> {
  const { topologyTable, wish } = migration;
  await checkWish(topologyTable, wish);
  const clients = new Map(wish.groups.map((group) => [group.name, migration.connect(group)]));
  try {
    await Promise.all([...clients.values()].map(stepControl));
    await writeGroups(topologyTable, wish.groups);
    const topologies: DatastoreTopology[] = [];
    for (const { name, shards } of wish.datastores) topologies.push(await createDatastore(topologyTable, spread(name, shards, wish.groups)));
    const done = await Promise.all([...clients].map(([group, client]) => createShards(migration, group, client, topologies)));
    return done.every(Boolean);
  } finally {
    await Promise.all([...clients.values()].map((client) => client.close()));
  }
}

async function checkWish(topologyTable: DynamoTable, { groups, datastores }: MigrationWish): Promise<void> {
  const names = new Set(groups.map(({ name }) => name));
  for (const { name, shards } of datastores) {
    const existing = await readDatastore(topologyTable, name);
    if (!existing) continue;
    if (existing.shards !== shards) throw new Error(`datastore ${name}: wanted its ${existing.shards} shards, fixed when it was created, got ${shards}`);
    const gone = existing.places.find(({ group }) => !names.has(group));
    if (gone) throw new Error(`groups: wanted ${gone.group} among them, which owns shards of ${name}, got ${[...names].join(', ')}`);
  }
}

/** The first distribution of a datastore's shards: round the groups. */
function spread(datastore: string, shards: number, groups: readonly GroupAddress[]): DatastoreTopology {
  const places = Array.from({ length: shards }, (_, shard) => ({ group: groups[shard % groups.length]?.name ?? '', epoch: 1 }));
  return { datastore, shards, places };
}

async function stepControl(client: SqlClient): Promise<void> {
  const [[known] = []] = await client.select({ sql: "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'schemaless' AND table_name = 'migration'", parameters: [] }, 'writer');
  const [[last] = []] = toNumber(known) === 0 ? [[0]] : await client.select({ sql: `SELECT COALESCE(MAX(step), 0) FROM ${CONTROL}.migration`, parameters: [] }, 'writer');
  for (let step = toNumber(last) + 1; step <= CONTROL_STEPS.length; step += 1) {
    for (const sql of CONTROL_STEPS[step - 1] ?? []) await client.change({ sql, parameters: [] });
    await client.change({ sql: `INSERT IGNORE INTO ${CONTROL}.migration (step, applied_at) VALUES (?, SYSDATE(6))`, parameters: [step] });
  }
}

interface WantedShard {
  readonly datastore: string;
  readonly shard: number;
  readonly epoch: number;
  /** The step that its database has reached, 0 when there is none. */
  readonly step: number;
}

/** Creates, or brings up to date, the databases of the shards that a group owns. The rows come last: they open the shards. */
async function createShards(migration: Migration, group: string, client: SqlClient, topologies: readonly DatastoreTopology[]): Promise<boolean> {
  const rows = await client.select({ sql: `SELECT datastore, shard, step FROM ${CONTROL}.shard`, parameters: [] }, 'writer');
  const reached = new Map(rows.map((row) => [shardDatabase(toText(row[0]), toNumber(row[1])), toNumber(row[2])]));
  const wanted = topologies
    .flatMap(({ datastore, places }) => places.map((place, shard) => ({ datastore, shard, ...place, step: reached.get(shardDatabase(datastore, shard)) ?? 0 })))
    .filter((shard) => shard.group === group && shard.step < SHARD_STEPS.length);
  for (let start = 0; start < wanted.length; start += ROWS_A_STATEMENT) {
    if (!migration.mayGoOn()) return false;
    const page = wanted.slice(start, start + ROWS_A_STATEMENT);
    const queue = [...page];
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => createDatabases(client, queue)));
    await client.change(upsertShards(page));
  }
  return true;
}

async function createDatabases(client: SqlClient, queue: WantedShard[]): Promise<void> {
  for (let next = queue.pop(); next; next = queue.pop()) {
    const database = quoteName(shardDatabase(next.datastore, next.shard));
    for (const step of SHARD_STEPS.slice(next.step)) {
      for (const sql of step(database)) await client.change({ sql, parameters: [] });
    }
  }
}

function upsertShards(shards: readonly WantedShard[]) {
  return {
    sql:
      `INSERT INTO ${CONTROL}.shard (datastore, shard, epoch, step) VALUES ${shards.map(() => '(?, ?, ?, ?)').join(', ')} ` +
      `ON DUPLICATE KEY UPDATE step = GREATEST(step, VALUES(step))`,
    parameters: shards.flatMap(({ datastore, shard, epoch }) => [datastore, shard, epoch, SHARD_STEPS.length]),
  };
}
