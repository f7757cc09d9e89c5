import { setTimeout as sleep } from 'node:timers/promises';
import type { RetentionRule, SealedFields } from '../definitions/definitions.ts';
import { SchemalessError } from '../errors.ts';
import { GROUPS_KEY } from '../granted-names.ts';
import { ageOf, moment, type Moment } from '../time.ts';
import { putState, readState, setState, type StateItem } from '../dynamo/state-table.ts';
import { allItems, type DynamoTable } from '../dynamo/table.ts';
import { nextLook } from '../next-look.ts';
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
 * | `groups` | `groups`: how every group is reached, JSON |
 * | `datastore#trips` | `names`: groups by number, `owners`: for each shard the number of its group, `epochs`: for each shard its epoch; `making`: not all shards were made yet; `moving`: of each shard that has a copy, who holds it, see `moving-shards.ts`; `retention`, `sealed`: how long cells are kept, and which of their fields are sealed, JSON |
 * | `index#trips#rider_index` | the versions of an index, see `index-catalogue.ts` |
 * | `progress#trips#rider_index` | how far the repair is with it, see `index-now.ts` |
 * | `trigger#trips#bill_rider` | a trigger, see `trigger-catalogue.ts` |
 * | `applied#…` | what was defined through the API, see `defined.ts` |
 * | `deployed…` | what the deployment defines, see `defined.ts` |
 *
 * A datastore that neither a deployment nor an `apply` defines any more is retired: its items and cells stay, requests do
 * not find it, and the functions of the background go on with it.
 *
 * One item a datastore: 4096 shards take about 30 KB, a cold instance reads them with one request, and a shard moves
 * by changing one element of two lists.
 */
const DATASTORE = 'datastore#';

/** After this time an instance asks again, so that added groups and datastores become known without a failed write. */
const MAX_AGE_MS = 60_000;
/** How long what is known is gone on with when the table cannot be read. */
const RETRY_MS = 2000;
/** How long somebody who knows one waits for a newer one. */
const PATIENCE_MS = 1000;

/**
 * Reads the topology, cached for a minute, or until `refresh`. When the table cannot be read, what is known stays in
 * use: shards rarely move, and a write to a shard that did is refused by its fence. Throws SchemalessError
 * `unavailable` when the table cannot be read and nothing is known.
 */
export function dynamoTopology(table: DynamoTable): TopologySource {
  let known: WholeTopology | undefined;
  /** The same, for who asks while it is fresh: nearly everybody, several times a request. */
  let knownAlready: Promise<WholeTopology> | undefined;
  let reading: Promise<WholeTopology> | undefined;
  /** The reading after that, wanted by who refreshed meanwhile. */
  let following: Promise<WholeTopology> | undefined;
  /** The answer of the reading under way may be older than a `refresh`. */
  let isStale = false;
  /** When it was read, or last tried; undefined once it is to be read anew. */
  let triedAt: Moment | undefined;
  let isAway = false;

  async function read(): Promise<WholeTopology> {
    const begun = moment();
    isStale = false;
    try {
      known = await readTopology(table);
      knownAlready = Promise.resolve(known);
      isAway = false;
      // It is as old as the question: the answer may have waited for an instance that was frozen.
      triedAt = isStale ? undefined : begun;
      return known;
    } catch (cause) {
      isAway = true;
      if (!known) throw new SchemalessError('unavailable', 'the topology cannot be read', { cause });
      triedAt = moment();
      return known;
    } finally {
      reading = undefined;
    }
  }

  function current(): Promise<WholeTopology> {
    const isFresh = triedAt !== undefined && ageOf(triedAt) < (isAway ? RETRY_MS : MAX_AGE_MS);
    return knownAlready && isFresh ? knownAlready : refreshed();
  }

  const renew = nextLook(async () => {
    // It may have begun before the call.
    await reading?.catch(() => undefined);
    reading ??= read();
    await reading;
    if (isAway) throw new SchemalessError('unavailable', 'the topology cannot be read');
  });

  async function refreshed(): Promise<WholeTopology> {
    const newest = next();
    if (!known) return newest;
    // An attempt may take many seconds: nobody waits for all of it, nor again while the table is away.
    return isAway ? known : Promise.race([newest, sleep(PATIENCE_MS, known, { ref: false })]);
  }

  /** A reading that began after the last `refresh`. */
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
    refresh() {
      triedAt = undefined;
      isStale = reading !== undefined;
    },
    renew,
  };
}

interface WholeTopology {
  readonly groups: readonly GroupAddress[];
  readonly datastores: ReadonlyMap<string, DatastoreTopology>;
  readonly served: readonly string[];
  /** By datastore; those that have a version, by name. */
  readonly indexes: ReadonlyMap<string, readonly IndexCatalogue[]>;
  /** By datastore; by name. */
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
  // Before the first migration has said what is deployed, whatever is there counts as defined.
  const defined = deployed && new Set([...deployed, ...applied]);
  const served = [...datastores.keys()].filter((name) => defined?.has(name) ?? true).sort();
  return { groups, datastores, served, indexes, triggers };
}

/** Writes how the groups are reached: the one part of the topology that a deploy may change at will. */
export async function writeGroups(table: DynamoTable, groups: readonly GroupAddress[]): Promise<void> {
  await putState(table, GROUPS_KEY, { groups: { S: JSON.stringify(groups) } });
}

/** Reads how the groups are reached as it is now, past every cache. */
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

/** Reads one datastore's topology as it is now, past every cache. */
export async function readDatastore(table: DynamoTable, name: string): Promise<DatastoreTopology | undefined> {
  const item = await readState(table, `${DATASTORE}${name}`);
  return item && toTopology(name, item);
}

/**
 * Writes a datastore's topology unless there is one already. Returns what is written now: another's, when it came
 * first.
 */
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

/** Notes that all shards of a datastore have been made: one that is missing from now on was lost. */
export function endMaking(table: DynamoTable, datastore: string): Promise<void> {
  return setAttribute(table, datastore, 'making', undefined);
}

/** Writes the rules of a datastore that is there, in the place of those before; undefined: cells are kept for good. */
export function writeRetention(
  table: DynamoTable,
  datastore: string,
  rules: DatastoreTopology['retention'],
): Promise<void> {
  return setAttribute(table, datastore, 'retention', rules);
}

/** Says from now on which fields of a datastore that is there are sealed; instances know it within a minute. */
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
