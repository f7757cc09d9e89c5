import { SchemalessError } from '../errors.ts';
import type { SqlClient } from '../sql/client.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import { selectLags, toLags, type StoredLag } from '../sql/statements/select-lags.ts';
import type { StoreContext } from '../access/context.ts';
import { byGroup, requireDatastore } from '../access/groups.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { askParts, partsOf } from '../access/ask-parts.ts';
import { readFollower, type FollowerName } from './follower-item.ts';
import type { ShardOffset } from './offsets.ts';
import { OffsetItems } from './offset-items.ts';
import { slicesOf } from '../slices-of.ts';

export interface ShardLag {
  readonly shard: number;
  /** As last written; undefined before the follower began. */
  readonly offset: number | undefined;
  /** Undefined if the shard, or its group, cannot be read. */
  readonly head: number | undefined;
}

const SHARDS_A_STATEMENT = 256;

/**
 * Returns how far a follower is, for each shard in order. Offsets are a commit behind, half a second or so. Throws
 * SchemalessError `unknown_datastore`, and what DynamoDB throws.
 */
export async function followerLag(
  stateTable: DynamoTable,
  context: StoreContext,
  follower: FollowerName,
): Promise<readonly ShardLag[]> {
  const topology = await requireDatastore(context.topology, follower.datastore);
  const ranges = topology.homes.map((_, shard) => ({ shard, after: undefined }));
  const [offsets, lags] = await Promise.all([
    committedOffsets(stateTable, follower, topology.shards),
    readLags(context, topology, ranges),
  ]);
  return ranges.map(({ shard }) => ({ shard, offset: offsets[shard], head: lags.get(shard)?.head }));
}

/** Returns heads, and ages of what comes after; shards that cannot be read are left out. */
export async function readLags(
  context: StoreContext,
  topology: DatastoreTopology,
  ranges: readonly { readonly shard: number; readonly after: number | undefined }[],
): Promise<ReadonlyMap<number, StoredLag>> {
  const found = new Map<number, StoredLag>();
  await Promise.all(
    [...byGroup(topology, ranges)].map(async ([group, items]) => {
      try {
        for (const some of slicesOf(items, SHARDS_A_STATEMENT)) {
          const statement = selectLags(topology.datastore, some);
          const { rows } = await askParts(await context.groups.client(group), group, 'writer', partsOf(statement));
          for (const [shard, lag] of toLags(rows)) found.set(shard, lag);
        }
      } catch (error) {
        if (!(error instanceof SchemalessError) || error.code !== 'unavailable') throw error;
      }
    }),
  );
  return found;
}

/** Returns how far some logs of one group go, by its writer. Throws SqlError. */
export async function writerHeads(
  client: SqlClient,
  datastore: string,
  shards: readonly number[],
): Promise<(readonly [shard: number, head: number])[]> {
  const heads: (readonly [number, number])[] = [];
  for (const some of slicesOf(shards, SHARDS_A_STATEMENT))
    heads.push(...toHeads(await client.select(selectHeads(datastore, some), 'writer')));
  return heads;
}

/** Returns the added id of each shard in order, as last written. */
export async function committedOffsets(
  stateTable: DynamoTable,
  follower: FollowerName,
  shards: number,
): Promise<(number | undefined)[]> {
  return (await committedLocations(stateTable, follower, shards)).map((location) => location?.added_id);
}

interface CommittedLocation extends ShardOffset {
  readonly generation: number;
}

/** Returns the offset of each shard in order, as last written, with the generation of its partition. */
export async function committedLocations(
  stateTable: DynamoTable,
  follower: FollowerName,
  shards: number,
): Promise<(CommittedLocation | undefined)[]> {
  const offsets: (CommittedLocation | undefined)[] = Array.from({ length: shards }, () => undefined);
  const { partitions = 0 } = (await readFollower(stateTable, follower)) ?? {};
  const items = new OffsetItems(stateTable, { ...follower, shards, partitions });
  const all = await items.readAll(Array.from({ length: partitions }, (_, partition) => partition));
  for (const [partition, { offsets: ofItem, generation }] of all)
    for (const [position, offset] of ofItem.entries())
      offsets[partition + position * partitions] = offset && { ...offset, generation };
  return offsets;
}
