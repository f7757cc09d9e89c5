import type { DatastoreDefinition, IndexDefinition } from '../definitions/definitions.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { dynamoTopology } from '../topology/dynamo-topology.ts';
import { changeIndexVersions, definitionHash, inState, type IndexVersion } from '../topology/index-catalogue.ts';
import { createIndexTable, indexTableName } from '../index/index-table.ts';
import { shardDatabase } from '../address.ts';
import type { SqlClient } from '../sql/client.ts';
import { toText } from '../sql/cell-rows.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { sideBySide } from '../side-by-side.ts';
import { slicesOf } from '../slices-of.ts';

/**
 * Returns the versions that make an index's definition the desired one.
 *
 * - Adds the desired version in state `first`, unless it exists and is not retired.
 * - Keeps another live version until the desired one is live, which then retires it. Retires it here if the desired
 *   version is live at once, or if there is none.
 * - Retires versions being built that are not the desired one.
 *
 * @param desired undefined if the index is not defined any more
 * @returns the given array itself if it is right
 */
export function desiredVersions(
  versions: readonly IndexVersion[],
  desired: IndexDefinition | undefined,
  first: 'building' | 'live',
  now = new Date(),
): readonly IndexVersion[] {
  const known =
    desired &&
    versions.find(
      ({ definition, state }) => state !== 'retired' && definitionHash(definition) === definitionHash(desired),
    );
  const replaced = !desired || (known?.state ?? first) === 'live';
  const changed = versions.map((version) => {
    const goes = version !== known && (version.state === 'building' || (version.state === 'live' && replaced));
    return goes ? inState(version, 'retired', now) : version;
  });
  if (desired && !known) return [...changed, { hash: freeHash(versions, desired), definition: desired, state: first }];
  return changed.every((version, position) => version === versions[position]) ? versions : changed;
}

function freeHash(versions: readonly IndexVersion[], definition: IndexDefinition): string {
  for (let round = 0; ; round += 1) {
    const hash = definitionHash(definition, round);
    if (!versions.some((version) => version.hash === hash)) return hash;
  }
}

type IndexedDefinition = Pick<DatastoreDefinition, 'name' | 'indexes'>;

/** Lists the indexes of a datastore that does not exist yet: all live, since there are no cells to index. */
export async function listFirstVersions(
  table: DynamoTable,
  { name: datastore, indexes }: IndexedDefinition,
): Promise<void> {
  for (const index of indexes)
    await changeIndexVersions(table, { datastore, name: index.name }, (versions) =>
      desiredVersions(versions, index, 'live'),
    );
}

/** The versions of a datastore's indexes that have, or are to get, tables in each of its shards. */
export interface DatastoreVersions {
  /** In the catalogue, not retired. */
  readonly listed: readonly IndexVersion[];
  /** Desired, and not in the catalogue yet. */
  readonly missing: readonly IndexVersion[];
}

export async function readVersions(
  table: DynamoTable,
  { name: datastore, indexes }: IndexedDefinition,
): Promise<DatastoreVersions> {
  const catalogues = await dynamoTopology(table).indexes(datastore);
  const missing = indexes.flatMap((index) => {
    const versions = catalogues.find(({ name }) => name === index.name)?.versions ?? [];
    return desiredVersions(versions, index, 'building').filter(
      ({ hash }) => !versions.some((version) => version.hash === hash),
    );
  });
  return { listed: catalogues.flatMap(({ versions }) => versions.filter(({ state }) => state !== 'retired')), missing };
}

/**
 * Brings the versions of all indexes of a datastore to its definition. `created`: the versions whose tables were
 * created for this. Returns false if a desired version lacks tables, since another process changed the catalogue.
 */
export async function listDesiredVersions(
  table: DynamoTable,
  { name: datastore, indexes }: IndexedDefinition,
  created: readonly IndexVersion[],
): Promise<boolean> {
  const catalogues = await dynamoTopology(table).indexes(datastore);
  let done = true;
  for (const name of new Set([...catalogues, ...indexes].map((index) => index.name))) {
    const desired = indexes.find((index) => index.name === name);
    await changeIndexVersions(table, { datastore, name }, (versions) => {
      const next = desiredVersions(versions, desired, 'building');
      const known = [...versions, ...created].map(({ hash }) => hash);
      const ready = next.every(({ hash }) => known.includes(hash));
      done &&= ready;
      return ready ? next : versions;
    });
  }
  return done;
}

/** Tables created between two checks of the time left. */
const TABLES_A_PAGE = 64;

/**
 * Creates the tables of an index version in all shards of a group that lack it. Continues where it stopped, since it
 * looks up existing tables first. Returns whether all exist.
 */
export async function createIndexTables(
  client: SqlClient,
  group: string,
  { datastore, homes }: DatastoreTopology,
  version: IndexVersion,
  mayGoOn: () => boolean,
): Promise<boolean> {
  if (!mayGoOn()) return false;
  const rows = await client.select(
    {
      sql: 'SELECT table_schema FROM information_schema.tables WHERE table_name = ?',
      parameters: [indexTableName(version.definition.name, version.hash)],
    },
    'writer',
  );
  const there = new Set(rows.map(([database]) => toText(database)));
  const missing = homes.flatMap((home, shard) =>
    home.group === group && !there.has(shardDatabase(datastore, shard)) ? [shard] : [],
  );
  for (const page of slicesOf(missing, TABLES_A_PAGE)) {
    if (!mayGoOn()) return false;
    await sideBySide(
      page,
      async (shard) => void (await client.change(createIndexTable(shardDatabase(datastore, shard), version))),
    );
  }
  return true;
}
