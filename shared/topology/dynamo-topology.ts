import { setTimeout as sleep } from 'node:timers/promises';
import type { RetentionRule, SealedFields } from '../definitions/definitions.ts';
import { SchemalessError } from '../errors.ts';
import { GROUPS_KEY } from '../granted-names.ts';
import { ageOf, moment, type Moment } from '../time.ts';
import { putState, readState, setState, type StateItem } from '../dynamo/state-table.ts';
import { allItems, type DynamoTable } from '../dynamo/table.ts';
import { nextPoll } from '../next-poll.ts';
import { toAppliedName, toDeployedNames } from './defined.ts';
import { toCopy } from './moving-shards.ts';
import { toIndexCatalogue, type IndexCatalogue } from './index-catalogue.ts';
import { readIndexNow } from './index-now.ts';
import type { DatastoreTopology, DeployedTrigger, GroupAddress, TopologySource } from './topology.ts';
import { toTriggerItem } from './trigger-catalogue.ts';

/**
 * The topology as items of one DynamoDB table.
 *
 * | pk | holds |
 * |---|---|
 * | `groups` | `groups`: how to reach every group, JSON |
 * | `datastore#trips` | `names`: groups by number. `owners`, `epochs`: for each shard, its group's number and its epoch. `making`: some shards do not exist yet. `moving`: the copies of shards, see `moving-shards.ts`. `retention`, `sealed`: retention rules and sealed fields, JSON |
 * | `index#trips#rider_index` | the versions of an index, see `index-catalogue.ts` |
 * | `progress#trips#rider_index` | the progress of its repair, see `index-now.ts` |
 * | `trigger#trips#bill_rider` | a trigger, see `trigger-catalogue.ts` |
 * | `applied#…` | a definition applied through the API, see `defined.ts` |
 * | `deployed…` | the deployment's definitions, see `defined.ts` |
 *
 * A datastore is retired if neither a deployment nor an `apply` defines it any more. Its items and cells stay, and
 * background functions continue, but requests do not find it.
 *
 * Each datastore is one item: 4096 shards take about 30 KB, which a cold instance reads with one request. A shard moves
 * by a change of one element of two lists.
 */
const DATASTORE = 'datastore#';

/** After this time an instance reads again, so that it learns of new groups and datastores without a failed write. */
const MAX_AGE_MS = 60_000;
/** How long the known topology stays in use before the next try, if the table cannot be read. */
const RETRY_MS = 2000;
/** How long a call waits for a newer topology if it knows one. */
const PATIENCE_MS = 1000;

/**
 * Reads the topology, cached for a minute, or until `refresh`. If the table cannot be read, the cached topology stays
 * in use: shards rarely move, and fences refuse writes to a former group. Throws SchemalessError `unavailable` if the
 * table cannot be read and nothing is cached.
 */
export function dynamoTopology(table: DynamoTable): TopologySource {
  let known: WholeTopology | undefined;
  /** The same as a promise, for calls while it is fresh: nearly all, several in each request. */
  let knownAlready: Promise<WholeTopology> | undefined;
  let reading: Promise<WholeTopology> | undefined;
  /** The next read, for calls after a `refresh` during the current one. */
  let following: Promise<WholeTopology> | undefined;
  /** The result of the current read may be older than a `refresh`. */
  let isStale = false;
  /** When it was read, or last tried; undefined if the next call must read it. */
  let triedAt: Moment | undefined;
  let isUnavailable = false;
  const mayRefresh = atMostEvery();

  async function read(): Promise<WholeTopology> {
    const begun = moment();
    isStale = false;
    try {
      known = await readTopology(table);
      knownAlready = Promise.resolve(known);
      isUnavailable = false;
      // Its age counts from the request: the response may have waited in a frozen instance.
      triedAt = isStale ? undefined : begun;
      return known;
    } catch (cause) {
      isUnavailable = true;
      if (!known) throw new SchemalessError('unavailable', 'the topology cannot be read', { cause });
      triedAt = moment();
      return known;
    } finally {
      reading = undefined;
    }
  }

  function current(): Promise<WholeTopology> {
    const isFresh = triedAt !== undefined && ageOf(triedAt) < (isUnavailable ? RETRY_MS : MAX_AGE_MS);
    return knownAlready && isFresh ? knownAlready : refreshed();
  }

  const renew = nextPoll(async () => {
    // The current read may have begun before the call.
    await reading?.catch(() => undefined);
    reading ??= read();
    await reading;
    if (isUnavailable) throw new SchemalessError('unavailable', 'the topology cannot be read');
  });

  async function refreshed(): Promise<WholeTopology> {
    const newest = next();
    if (!known) return newest;
    // A read may take many seconds: a call waits for part of it, and for none while the table is unavailable.
    return isUnavailable ? known : Promise.race([newest, sleep(PATIENCE_MS, known, { ref: false })]);
  }

  /** Returns a read that began after the last `refresh`. */
  function next(): Promise<WholeTopology> {
    if (!reading || !isStale) return (reading ??= read());
    following ??= reading
      .catch(() => undefined)
      .then(() => {
        following = undefined;
        return (reading ??= read());
      });
    return following;
  }

  return {
    datastore: async (name) => (await current()).datastores.get(name),
    datastores: async () => [...(await current()).datastores.keys()].sort(),
    served: async () => (await current()).served,
    groups: async () => (await current()).groups,
    groupsNow: () => readGroups(table),
    indexes: async (datastore) => (await current()).indexes.get(datastore) ?? [],
    indexNow: (datastore, name) => readIndexNow(table, { datastore, name }),
    triggers: async (datastore) => (await current()).triggers.get(datastore) ?? [],
    refresh(everyMs = 0) {
      if (!mayRefresh(everyMs)) return;
      triedAt = undefined;
      isStale = reading !== undefined;
    },
    renew,
  };
}

/** Returns whether nothing was let through within a time; always for 0. */
function atMostEvery(): (milliseconds: number) => boolean {
  let last = Number.NEGATIVE_INFINITY;
  return (milliseconds) => {
    const now = performance.now();
    if (milliseconds === 0) return true;
    if (now - last < milliseconds) return false;
    last = now;
    return true;
  };
}

interface WholeTopology {
  readonly groups: readonly GroupAddress[];
  readonly datastores: ReadonlyMap<string, DatastoreTopology>;
  readonly served: readonly string[];
  /** By datastore, then by name; only those with a version. */
  readonly indexes: ReadonlyMap<string, readonly IndexCatalogue[]>;
  /** By datastore, then by name. */
  readonly triggers: ReadonlyMap<string, readonly DeployedTrigger[]>;
}

async function readTopology(table: DynamoTable): Promise<WholeTopology> {
  const datastores = new Map<string, DatastoreTopology>();
  const indexes = new Map<string, IndexCatalogue[]>();
  const triggers = new Map<string, DeployedTrigger[]>();
  const applied: string[] = [];
  let deployed: readonly string[] | undefined;
  let groups: readonly GroupAddress[] = [];
  for (const item of await allItems(table)) {
    const key = item['pk']?.S ?? '';
    const datastore = key.startsWith(DATASTORE) ? key.slice(DATASTORE.length) : undefined;
    if (key === GROUPS_KEY) groups = toGroups(item);
    if (datastore !== undefined) datastores.set(datastore, toTopology(datastore, item));
    deployed ??= toDeployedNames(item);
    applied.push(...toAppliedName(item));
    const index = toIndexCatalogue(item);
    if (index && index.catalogue.versions.length > 0)
      indexes.set(index.datastore, [...(indexes.get(index.datastore) ?? []), index.catalogue]);
    const trigger = toTriggerItem(item);
    if (trigger && trigger.removed_at === undefined)
      triggers.set(trigger.datastore, [...(triggers.get(trigger.datastore) ?? []), trigger.trigger]);
  }
  for (const catalogues of indexes.values()) catalogues.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const deployed of triggers.values()) deployed.sort((a, b) => (a.definition.name < b.definition.name ? -1 : 1));
  // Before the first migration records what is deployed, every existing datastore counts as defined.
  const defined = deployed && new Set([...deployed, ...applied]);
  const served = [...datastores.keys()].filter((name) => defined?.has(name) ?? true).sort();
  return { groups, datastores, served, indexes, triggers };
}

/** Writes how to reach the groups: the one part of the topology that a deployment may change at will. */
export async function writeGroups(table: DynamoTable, groups: readonly GroupAddress[]): Promise<void> {
  await putState(table, GROUPS_KEY, { groups: { S: JSON.stringify(groups) } });
}

/** Reads how to reach the groups, past every cache. */
async function readGroups(table: DynamoTable): Promise<readonly GroupAddress[]> {
  try {
    const item = await readState(table, GROUPS_KEY);
    if (!item) throw new Error('the table does not say which groups there are');
    return toGroups(item);
  } catch (cause) {
    throw new SchemalessError('unavailable', 'the topology cannot be read', { cause });
  }
}

function toGroups(item: StateItem): readonly GroupAddress[] {
  return JSON.parse(item['groups']?.S ?? '[]') as GroupAddress[];
}

/** Reads one datastore's topology, past every cache. */
export async function readDatastore(table: DynamoTable, name: string): Promise<DatastoreTopology | undefined> {
  const item = await readState(table, `${DATASTORE}${name}`);
  return item && toTopology(name, item);
}

/** Writes a datastore's topology unless one exists. Returns the stored one, which may be an earlier writer's. */
export async function createDatastore(table: DynamoTable, topology: DatastoreTopology): Promise<DatastoreTopology> {
  const names = [...new Set(topology.homes.map(({ group }) => group))];
  const attributes = {
    names: { L: names.map((name) => ({ S: name })) },
    owners: { L: topology.homes.map(({ group }) => ({ N: String(names.indexOf(group)) })) },
    epochs: { L: topology.homes.map(({ epoch }) => ({ N: String(epoch) })) },
    making: { BOOL: true },
    ...(topology.sealed && { sealed: { S: JSON.stringify(topology.sealed) } }),
  };
  const key = `${DATASTORE}${topology.datastore}`;
  if (await setState(table, key, attributes, { condition: 'attribute_not_exists(pk)' })) return topology;
  const first = await readDatastore(table, topology.datastore);
  if (!first) throw new Error(`the datastore ${topology.datastore} was there, and is gone`);
  return first;
}

/** Records that all shards of a datastore exist: one that is missing from now on was lost. */
export function endMaking(table: DynamoTable, datastore: string): Promise<void> {
  return setAttribute(table, datastore, 'making', undefined);
}

/** Replaces the retention rules of an existing datastore; undefined: cells are kept for good. */
export function writeRetention(
  table: DynamoTable,
  datastore: string,
  rules: DatastoreTopology['retention'],
): Promise<void> {
  return setAttribute(table, datastore, 'retention', rules);
}

/** Sets the sealed fields of an existing datastore; instances know them within a minute. */
export function writeSealed(table: DynamoTable, datastore: string, sealed: DatastoreTopology['sealed']): Promise<void> {
  return setAttribute(table, datastore, 'sealed', sealed?.length === 0 ? undefined : sealed);
}

async function setAttribute(
  table: DynamoTable,
  datastore: string,
  attribute: 'making' | 'retention' | 'sealed',
  value: readonly unknown[] | undefined,
): Promise<void> {
  const attributes = { [attribute]: value && { S: JSON.stringify(value) } };
  const written = await setState(table, `${DATASTORE}${datastore}`, attributes, { condition: 'attribute_exists(pk)' });
  if (!written) throw new Error(`the topology has no datastore ${datastore}`);
}

function toTopology(datastore: string, item: StateItem): DatastoreTopology {
  const { retention, sealed } = item;
  const names = (item['names']?.L ?? []).map(({ S }) => S ?? '');
  const owners = (item['owners']?.L ?? []).map(({ N }) => Number(N));
  const epochs = (item['epochs']?.L ?? []).map(({ N }) => Number(N));
  return {
    datastore,
    shards: owners.length,
    homes: owners.map((owner, shard) => {
      const copy = item['moving']?.M?.[shard];
      return {
        group: names[owner] ?? '',
        epoch: epochs[shard] ?? 1,
        ...(copy && { copy: toCopy(copy) }),
      };
    }),
    ...(item['making'] !== undefined && { isBeingMade: true as const }),
    ...(retention?.S !== undefined && { retention: JSON.parse(retention.S) as readonly RetentionRule[] }),
    ...(sealed?.S !== undefined && { sealed: JSON.parse(sealed.S) as readonly SealedFields[] }),
  };
}
