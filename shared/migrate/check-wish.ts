import { STAYS_SEALED, unsealedBy, type DatastoreDefinition } from '../definitions/definitions.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { writeDeployed } from '../topology/defined.ts';
import { dynamoTopology, readDatastore } from '../topology/dynamo-topology.ts';
import type { TopologySource, DeployedTrigger, GroupAddress } from '../topology/topology.ts';
import { ONE_HASH, wrongSealedTypes } from './sealed-types.ts';

/**
 * Throws an `Error` that names what is wrong with a wish: another shard count, a field that would not be sealed any more
 * or has another type in an index, a group gone that owns shards, of whatever datastore, or that some are being moved to.
 */
export async function checkWish(topologyTable: DynamoTable, { groups, datastores }: MigrationWish): Promise<void> {
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
  const gone = (await heldShards(dynamoTopology(topologyTable))).find(({ group }) => !names.includes(group));
  if (gone) throw new Error(`groups: wanted ${gone.group} among them, ${whatItHas(gone)}, got ${names.join(', ')}`);
}

async function checkSealing(
  topologyTable: DynamoTable,
  { name, sealed, indexes }: WishedDatastore,
  now: WishedDatastore['sealed'],
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

/** Shards of one datastore that a group has. */
interface HeldShards {
  readonly group: string;
  readonly datastore: string;
  /** Ascending; at least one. */
  readonly shards: readonly number[];
  /** They are on their way: another group owns them still, and this one has what was copied of them so far. */
  readonly areComing: boolean;
}

/** What each group has of the shards of all datastores, retired ones included. */
async function heldShards(topology: TopologySource): Promise<readonly HeldShards[]> {
  const held: HeldShards[] = [];
  for (const datastore of await topology.datastores()) {
    const { homes = [] } = (await topology.datastore(datastore)) ?? {};
    const owned = homes.map(({ group }, shard) => ({ group, shard }));
    const coming = homes.flatMap(({ copy }, shard) => (copy ? [{ group: copy.group, shard }] : []));
    for (const some of [owned, coming])
      for (const [group, its] of Map.groupBy(some, (one) => one.group))
        held.push({ group, datastore, shards: its.map(({ shard }) => shard), areComing: some === coming });
  }
  return held;
}

/** More shards than this are counted. */
const SHARDS_NAMED = 8;

function whatItHas({ datastore, shards, areComing }: HeldShards): string {
  const more = shards.length - SHARDS_NAMED;
  const named = `${shards.slice(0, SHARDS_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return areComing
    ? `which shards of ${datastore} are being moved to (${named})`
    : `which owns shards of ${datastore} (${named})`;
}

/** Says what the deployment defines, before anything is made of it: nobody is to change it from here on. */
export async function noteDeployed(topologyTable: DynamoTable, { datastores }: MigrationWish): Promise<void> {
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

export interface MigrationWish {
  readonly groups: readonly GroupAddress[];
  readonly datastores: readonly WishedDatastore[];
  /** Datastores that are not among them stay as they are, with their triggers. @default false: this is all there is */
  readonly isPart?: boolean;
}

export type WishedDatastore = Omit<DatastoreDefinition, 'triggers'> & { readonly triggers: readonly DeployedTrigger[] };
