import { STAYS_SEALED, unsealedBy, type DatastoreDefinition } from '../definitions/definitions.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { writeDeployed } from '../topology/defined.ts';
import { dynamoTopology, readDatastore } from '../topology/dynamo-topology.ts';
import type { TopologySource, DeployedTrigger, GroupAddress } from '../topology/topology.ts';
import { ONE_HASH, wrongSealedTypes } from './sealed-types.ts';

/**
 * Throws an `Error` that names the problem if the desired state changes a shard count, unseals a field, or changes its
 * type in an index. The same if it lacks a group that owns shards of any datastore, or is the target of a move.
 */
export async function checkDesiredState(
  topologyTable: DynamoTable,
  { groups, datastores }: DesiredState,
): Promise<void> {
  for (const datastore of datastores) {
    const { name, shards } = datastore;
    const existing = await readDatastore(topologyTable, name);
    if (existing && existing.shards !== shards)
      throw new Error(
        `datastore ${name}: wanted its ${existing.shards} shards, fixed when it was created, got ${shards}`,
      );
    await checkSealing(topologyTable, datastore, existing?.sealed);
  }
  const names = groups.map(({ name }) => name);
  const gone = await heldByOthers(dynamoTopology(topologyTable), names);
  if (gone) throw new Error(`groups: wanted ${gone}, got ${names.join(', ')}`);
}

async function checkSealing(
  topologyTable: DynamoTable,
  { name, sealed, indexes }: DesiredDatastore,
  now: DesiredDatastore['sealed'],
): Promise<void> {
  const unsealed = unsealedBy(now, sealed);
  if (unsealed.length > 0)
    throw new Error(
      `datastore ${name}: sealed: wanted ${unsealed.join(', ')}, which are sealed, got ${sealed ? 'a list without them' : 'no sealed fields'}: ${STAYS_SEALED}`,
    );
  if (!sealed) return;
  const versions = (await dynamoTopology(topologyTable).indexes(name)).flatMap((index) => index.versions);
  const there = versions.filter(({ state }) => state !== 'retired').map(({ definition }) => definition);
  const [wrong] = wrongSealedTypes(indexes, there);
  if (wrong)
    throw new Error(
      `index ${name}/${wrong.index}: ${wrong.field}: wanted ${wrong.wanted}, got ${wrong.got}: ${ONE_HASH}`,
    );
}

/** The most shards that a message names; it counts the rest. */
const SHARDS_NAMED = 8;

/**
 * Returns the name of another group than these that owns shards of a datastore, or receives them by a move, and the
 * shards. Includes retired datastores. Returns undefined if there is no such group.
 */
async function heldByOthers(topology: TopologySource, names: readonly string[]): Promise<string | undefined> {
  for (const datastore of await topology.datastores()) {
    const { homes = [] } = (await topology.datastore(datastore)) ?? {};
    for (const isOwned of [true, false]) {
      const holders = homes.map(({ group, copy }) => (isOwned ? group : copy?.group));
      const gone = holders.find((group) => group !== undefined && !names.includes(group));
      const shards = [...holders.keys()].filter((shard) => gone !== undefined && holders[shard] === gone);
      const more = shards.length - SHARDS_NAMED;
      const named = `(${shards.slice(0, SHARDS_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''})`;
      const what = isOwned ? `which owns shards of ${datastore}` : `which shards of ${datastore} are being moved to`;
      if (gone !== undefined) return `${gone} among them, ${what} ${named}`;
    }
  }
  return undefined;
}

/** Records what the deployment defines before it is created: from here on, only a deployment may change it. */
export async function noteDeployed(topologyTable: DynamoTable, { datastores }: DesiredState): Promise<void> {
  await writeDeployed(topologyTable, {
    datastores: datastores.map(({ name, shards, sealed, indexes, triggers, retention }) => ({
      name,
      shards,
      ...(sealed && { sealed }),
      indexes,
      ...(retention && { retention }),
      triggers: triggers.map(({ definition }) => definition),
    })),
  });
}

export interface DesiredState {
  readonly groups: readonly GroupAddress[];
  readonly datastores: readonly DesiredDatastore[];
  /** Other datastores stay as they are, with their triggers. @default false: other datastores are retired */
  readonly isPart?: boolean;
}

export type DesiredDatastore = Omit<DatastoreDefinition, 'triggers'> & {
  readonly triggers: readonly DeployedTrigger[];
};
