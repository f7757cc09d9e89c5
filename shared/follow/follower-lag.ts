import type { Role } from '../cell.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import type { StoreContext } from '../access/context.ts';
import { byGroup, requireDatastore } from '../access/groups.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { askParts, partsOf } from '../access/ask-parts.ts';
import { readFollower, type FollowerName } from './follower-item.ts';
import type { ShardOffset } from './encode-offsets.ts';
import { OffsetItems } from './offset-items.ts';

export interface ShardLag {
  readonly shard: number;
  /** As last written; undefined before the follower began. */
  readonly offset: number | undefined;
  /** Undefined if the shard, or its group, cannot be read. */
  readonly head: number | undefined;
}

const HEADS_A_STATEMENT = 256;

/**
 * Returns how far a follower is, for each shard in order. Offsets are a commit behind, half a second or so.
 *
 * @throws SchemalessError `unknown_datastore`, and what DynamoDB throws
 */
export async function followerLag(
  stateTable: DynamoTable,
  context: StoreContext,
  follower: FollowerName,
  read: Role = 'writer',
): Promise<readonly ShardLag[]> {
  const topology = await requireDatastore(context.topology, follower.datastore);
  const shards = topology.homes.map((_, shard) => ({ shard }));
  const heads = new Map<number, number>();
  const [offsets] = await Promise.all([
    committedOffsets(stateTable, follower, topology.shards),
    ...[...byGroup(topology, shards)].map(async ([group, items]) => {
      for (let start = 0; start < items.length; start += HEADS_A_STATEMENT) {
        const page = items.slice(start, start + HEADS_A_STATEMENT).map(({ shard }) => shard);
        const found = await context.groups
          .client(group)
          .then((client) => askParts(client, group, read, partsOf(selectHeads(follower.datastore, page))))
          .catch(() => undefined);
        for (const [shard, head] of toHeads(found?.rows ?? [])) heads.set(shard, head);
      }
    }),
  ]);
  return shards.map(({ shard }) => ({ shard, offset: offsets[shard], head: heads.get(shard) }));
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
  await Promise.all(
    Array.from({ length: partitions }, async (_, partition) => {
      const item = await items.read(partition);
      for (const [position, offset] of item?.offsets.entries() ?? [])
        offsets[partition + position * partitions] = offset && item && { ...offset, generation: item.generation };
    }),
  );
  return offsets;
}
