import type { DynamoTable } from '../dynamo/table.ts';
import { createDatastore, dynamoTopology, readDatastore } from '../topology/dynamo-topology.ts';
import type { DatastoreTopology, GroupAddress } from '../topology/topology.ts';
import { listFirstVersions, readVersions, type DatastoreVersions } from './index-versions.ts';
import type { WishedDatastore } from './check-wish.ts';

export interface MigratedDatastore {
  readonly definition: WishedDatastore;
  readonly topology: DatastoreTopology;
  readonly versions: DatastoreVersions;
  /** All its shards have been there before: cells of each may have been acknowledged. */
  readonly isKnown: boolean;
}

/** Puts a datastore that is new on the map; its shards open one by one later. */
export async function prepareDatastore(
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
export async function retiredDatastores(
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
