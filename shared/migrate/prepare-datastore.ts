import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoTable } from '../dynamo/table.ts';
import type { SqlClient } from '../sql/client.ts';
import { createDatastore, readDatastore } from '../topology/dynamo-topology.ts';
import { FORGOTTEN_AFTER_MS, readFormer, type FormerDatastore } from '../topology/former-datastores.ts';
import type { DatastoreTopology, GroupAddress } from '../topology/topology.ts';
import { deleteRows } from './delete-rows.ts';
import { listFirstVersions, readVersions, type DatastoreVersions } from './index-versions.ts';
import type { WishedDatastore } from './migration-wish.ts';

/** A datastore between what it is and what it is to be. */
export interface MigratedDatastore {
  readonly definition: WishedDatastore;
  readonly topology: DatastoreTopology;
  readonly versions: DatastoreVersions;
  /** All its shards have been there before: cells of each may have been acknowledged. */
  readonly isKnown: boolean;
}

/** Between looks whether there is still time to wait. */
const LOOK_MS = 500;

interface Preparing {
  readonly topologyTable: DynamoTable;
  readonly groups: readonly GroupAddress[];
  readonly mayGoOn: () => boolean;
}

/**
 * Puts a datastore that is new on the map; its shards open one by one later. Where one of its name was deleted, nothing
 * that came late for that is left, and no epoch of it comes again.
 *
 * @returns undefined while instances may go by the former one, or when there is no time for more
 */
export async function prepareDatastore(
  { topologyTable, groups, mayGoOn }: Preparing,
  definition: WishedDatastore,
  clients: ReadonlyMap<string, SqlClient>,
): Promise<MigratedDatastore | undefined> {
  const { name, shards } = definition;
  let topology = await readDatastore(topologyTable, name);
  const isKnown = topology !== undefined && topology.isBeingMade !== true;
  if (!topology) {
    const former = await readFormer(topologyTable, name);
    if (former) {
      // With as many shards each row is where it was: who goes by that finds it, or is refused by the epoch.
      if (former.shards !== shards && !(await forgotten(former, mayGoOn))) return undefined;
      for (const client of clients.values()) if (!(await deleteRows(client, name, mayGoOn))) return undefined;
    }
    // Before the datastore itself: whoever writes its first cell knows its indexes.
    await listFirstVersions(topologyTable, definition);
    topology = await createDatastore(topologyTable, spread(definition, groups, (former?.epoch ?? 0) + 1));
  }
  return { definition, topology, isKnown, versions: await readVersions(topologyTable, definition) };
}

/** Waits until no instance goes by a former datastore any more. Returns false where there is no time for that. */
async function forgotten({ at }: FormerDatastore, mayGoOn: () => boolean): Promise<boolean> {
  const until = Date.parse(at) + FORGOTTEN_AFTER_MS;
  while (Date.now() < until) {
    if (!mayGoOn()) return false;
    await sleep(Math.min(LOOK_MS, until - Date.now()));
  }
  return true;
}

/** The first distribution of a datastore's shards: round the groups. */
function spread(
  { name: datastore, shards, sealed }: WishedDatastore,
  groups: readonly GroupAddress[],
  epoch: number,
): DatastoreTopology {
  const homes = Array.from({ length: shards }, (_, shard) => ({
    group: groups[shard % groups.length]?.name ?? '',
    epoch,
  }));
  return { datastore, shards, homes, ...(sealed && { sealed }) };
}
