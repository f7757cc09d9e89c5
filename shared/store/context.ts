import { SchemalessError } from '../errors.ts';
import type { ShardPlace, DatastoreTopology, TopologySource } from '../topology/topology.ts';
import { openGroups, type Groups } from '../topology/groups.ts';
import { openAdmission, type Admission } from './admission.ts';
import type { DeploymentOptions, StoreEvent } from './deployment.ts';

/** What every part of the real store works with. */
export interface StoreContext {
  readonly topology: TopologySource;
  readonly groups: Groups;
  /** Secondaries that take a copy of each write before its primary is tried. */
  readonly bufferCopies: number;
  /** Whether writes that come together share statements. */
  readonly joinsWrites: boolean;
  /** Bounds the requests of each group that are under way at once. */
  readonly admit: Admission;
  readonly report: (event: StoreEvent) => void;
}

export function openContext(options: DeploymentOptions): StoreContext {
  const { topology, connect, bufferCopies, breakers = {}, trips, admission = {}, joinWrites = true, report = () => undefined } = options;
  return {
    topology,
    groups: openGroups(topology, connect, { breakers, ...(trips ? { trips } : {}), onOpen: (group, role, found) => report({ kind: 'circuit_opened', group, role, found }) }),
    bufferCopies,
    joinsWrites: joinWrites,
    admit: openAdmission(admission),
    report,
  };
}

/** Where a shard is. */
export function placeOf(datastore: DatastoreTopology, shard: number): ShardPlace {
  const place = datastore.places[shard];
  if (!place) throw new SchemalessError('unavailable', `the topology of ${datastore.datastore} does not say where shard ${shard} is`);
  return place;
}

/** Sorts items by the group that holds their shard, keeping their order. */
export function byGroup<T extends { readonly shard: number }>(datastore: DatastoreTopology, items: readonly T[]): Map<string, T[]> {
  return groupBy(items, ({ shard }) => placeOf(datastore, shard).group);
}

export function groupBy<K, T>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
