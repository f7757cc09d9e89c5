import { SchemalessError } from '../errors.ts';
import type { IndexCatalogue, IndexVersion } from '../topology/index-catalogue.ts';
import type { IndexNow } from '../topology/index-now.ts';
import type { TopologySource } from '../topology/topology.ts';
import { refreshSoon } from '../topology/refresh-soon.ts';
import type { IndexLooks } from './index-looks.ts';
import type { PhysicalIndex } from './index-table.ts';
import { parseQuery, type ParsedQuery } from './query.ts';
import type { IndexQuery } from '../contract/index-query.ts';

/** The version of an index that answers queries as it is cached: what is cached may be a minute old. */
function cachedIndex(catalogues: readonly IndexCatalogue[], name: string): PhysicalIndex | undefined {
  return versionOf(name, catalogues.find((one) => one.name === name)?.versions, 'live');
}

/**
 * The same past the cache, where that knows of none.
 *
 * @throws SchemalessError `unknown_index`; `index_building` while its first version is being built; `unavailable`
 */
async function lookedUpIndex({ topology, datastore, looks }: IndexesAsked, name: string): Promise<PhysicalIndex> {
  const now = await looks.recent(name);
  const live = versionOf(name, now?.versions, 'live');
  if (live) {
    topology.refresh();
    return live;
  }
  const building = versionOf(name, now?.versions, 'building');
  if (now && building) throw beingBuilt(name, building.hash, now, `${name} is being built`);
  // The look was for another name: the whole list, soon, in its place.
  if (!now) refreshSoon(topology);
  throw await unknownIndex(topology, datastore, name);
}

/** The indexes of a datastore, as they are cached and past the cache. */
export interface IndexesAsked {
  readonly topology: TopologySource;
  readonly datastore: string;
  readonly looks: IndexLooks;
}

/** A query, and the version of its index that answers it. */
export interface AnsweredQuery {
  readonly index: PhysicalIndex;
  readonly parsed: ParsedQuery;
}

/**
 * Checks a query against the definition that answers it: that of the live version as it is cached; where the query does
 * not fit that one, of the version that was live a moment ago.
 *
 * @throws SchemalessError what is wrong with the query; `unknown_index`; `unavailable`; `index_building` where a
 *   version that is being built will answer it
 */
export async function parseForIndex(asked: IndexesAsked, query: IndexQuery, shards: number): Promise<AnsweredQuery> {
  const index =
    cachedIndex(await asked.topology.indexes(asked.datastore), query.index) ??
    (await lookedUpIndex(asked, query.index));
  try {
    return { index, parsed: parseQuery(query, index.definition, shards) };
  } catch (error) {
    if (!(error instanceof SchemalessError)) throw error;
    // Where it cannot be looked up, what is cached is what is known.
    const now = await asked.looks.recent(query.index).catch(() => undefined);
    const live = versionOf(query.index, now?.versions, 'live');
    if (live && live.hash !== index.hash) {
      asked.topology.refresh();
      if (fits(query, live, shards)) return { index: live, parsed: parseQuery(query, live.definition, shards) };
    }
    const building = versionOf(query.index, now?.versions, 'building');
    if (now && building && fits(query, building, shards))
      throw beingBuilt(
        query.index,
        building.hash,
        now,
        `the definition of ${query.index} that can answer this is being built`,
      );
    throw error;
  }
}

/** For a name that no index has, or none that is not retired. */
export async function unknownIndex(
  topology: TopologySource,
  datastore: string,
  name: string,
): Promise<SchemalessError> {
  const catalogues = await topology.indexes(datastore);
  const known = catalogues
    .filter(({ versions }) => versions.some(({ state }) => state !== 'retired'))
    .map((one) => one.name);
  const got = JSON.stringify(name.slice(0, 60));
  return new SchemalessError(
    'unknown_index',
    `index: wanted one of ${known.join(', ') || '(none defined)'}, got ${got}`,
    { field: 'index', wanted: 'the name of an index', got },
  );
}

function beingBuilt(name: string, hash: string, { progress }: IndexNow, what: string): SchemalessError {
  const build = progress?.builds[hash];
  return new SchemalessError('index_building', `${what}${build ? `: ${build.done} of ${build.total} cells` : ''}`, {
    more: { index: name, progress: build ?? null },
  });
}

/** The last version in a state. */
function versionOf(
  name: string,
  versions: readonly IndexVersion[] | undefined,
  wanted: IndexVersion['state'],
): PhysicalIndex | undefined {
  const found = versions?.findLast(({ state }) => state === wanted);
  return found && { name, hash: found.hash, definition: found.definition };
}

function fits(query: IndexQuery, { definition }: PhysicalIndex, shards: number): boolean {
  try {
    parseQuery(query, definition, shards);
    return true;
  } catch {
    return false;
  }
}
