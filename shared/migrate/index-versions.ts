import type { DatastoreDefinition, IndexDefinition } from '../definitions/definitions.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { dynamoTopology } from '../topology/dynamo-topology.ts';
import { changeIndexVersions, definitionHash, inState, type IndexVersion } from '../topology/index-catalogue.ts';
import { createIndexTable, indexTableName } from '../index/index-table.ts';
import { shardDatabase } from '../address.ts';
import type { SqlClient, Statement } from '../sql/client.ts';
import { toText } from '../sql/cell-rows.ts';
import { quoteName } from '../sql/names.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import { sideBySide } from '../side-by-side.ts';
import { slicesOf } from '../slices-of.ts';

/**
 * What an index's versions have to be for its definition to be as wished.
 *
 * - The wished version, unless it is there and not retired, is added; `first` is its state.
 * - The live version, if it is another one, answers until the wished one is live: it is retired then, not here. Where
 *   the wished one is live at once, or none is wished any more, it is retired here.
 * - A version that was being built and is not wished any more is retired.
 *
 * @param wished undefined when the index is not defined any more
 * @returns the versions given, the same array, when they are right
 */
export function wishedVersions(
  versions: readonly IndexVersion[],
  wished: IndexDefinition | undefined,
  first: 'building' | 'live',
  now = new Date(),
): readonly IndexVersion[] {
  const known =
    wished &&
    versions.find(
      ({ definition, state }) => state !== 'retired' && definitionHash(definition) === definitionHash(wished),
    );
  const replaced = !wished || (known?.state ?? first) === 'live';
  const changed = versions.map((version) => {
    const goes = version !== known && (version.state === 'building' || (version.state === 'live' && replaced));
    return goes ? inState(version, 'retired', now) : version;
  });
  if (wished && !known) return [...changed, { hash: freeHash(versions, wished), definition: wished, state: first }];
  return changed.every((version, position) => version === versions[position]) ? versions : changed;
}

function freeHash(versions: readonly IndexVersion[], definition: IndexDefinition): string {
  for (let round = 0; ; round += 1) {
    const hash = definitionHash(definition, round);
    if (!versions.some((version) => version.hash === hash)) return hash;
  }
}

type IndexedDefinition = Pick<DatastoreDefinition, 'name' | 'indexes'>;

/** Lists the indexes of a datastore that does not exist yet: all live, since there are no cells that they lack. */
export async function listFirstVersions(
  table: DynamoTable,
  { name: datastore, indexes }: IndexedDefinition,
): Promise<void> {
  for (const index of indexes)
    await changeIndexVersions(table, { datastore, name: index.name }, (versions) =>
      wishedVersions(versions, index, 'live'),
    );
}

/** The versions of a datastore's indexes that have, or are to get, tables in each of its shards. */
export interface DatastoreVersions {
  /** In the catalogue, not retired. */
  readonly listed: readonly IndexVersion[];
  /** Wished, and not in the catalogue yet. */
  readonly missing: readonly IndexVersion[];
}

export async function readVersions(
  table: DynamoTable,
  { name: datastore, indexes }: IndexedDefinition,
): Promise<DatastoreVersions> {
  const catalogues = await dynamoTopology(table).indexes(datastore);
  const missing = indexes.flatMap((index) => {
    const versions = catalogues.find(({ name }) => name === index.name)?.versions ?? [];
    return wishedVersions(versions, index, 'building').filter(
      ({ hash }) => !versions.some((version) => version.hash === hash),
    );
  });
  return { listed: catalogues.flatMap(({ versions }) => versions.filter(({ state }) => state !== 'retired')), missing };
}

/**
 * Brings the versions of all indexes of a datastore to what its definition says. `created`: the versions whose tables
 * were created for this. Returns false when one is wished now whose tables were not: others changed the catalogue
 * meanwhile.
 */
export async function listWishedVersions(
  table: DynamoTable,
  { name: datastore, indexes }: IndexedDefinition,
  created: readonly IndexVersion[],
): Promise<boolean> {
  const catalogues = await dynamoTopology(table).indexes(datastore);
  let done = true;
  for (const name of new Set([...catalogues, ...indexes].map((index) => index.name))) {
    const wished = indexes.find((index) => index.name === name);
    await changeIndexVersions(table, { datastore, name }, (versions) => {
      const next = wishedVersions(versions, wished, 'building');
      const known = [...versions, ...created].map(({ hash }) => hash);
      const ready = next.every(({ hash }) => known.includes(hash));
      done &&= ready;
      return ready ? next : versions;
    });
  }
  return done;
}

/** Tables created before it is asked again whether there is time for more. */
const TABLES_A_PAGE = 64;

/** The table of an index version in a database of a shard, or of its copy. */
export function indexTableStatement(
  database: string,
  { hash, definition }: Pick<IndexVersion, 'hash' | 'definition'>,
): Statement {
  const table = indexTableName(definition.name, hash);
  return { sql: createIndexTable(quoteName(database), table, definition), parameters: [] };
}

/**
 * Creates the tables of an index version in all shards that a group owns and that lack it. Goes on where it stopped,
 * since what is there is looked up first. Returns whether all are there.
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
      async (shard) => void (await client.change(indexTableStatement(shardDatabase(datastore, shard), version))),
    );
  }
  return true;
}
