import type { Role } from '../cell.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import type { StoreContext } from '../access/context.ts';
import { byGroup, requireDatastore } from '../access/groups.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { askParts, partsOf } from '../access/ask-parts.ts';
import { readFollower, type FollowerName } from './follower-item.ts';
import type { ShardOffset } from './encode-offsets.ts';
import { offsetItems } from './offset-items.ts';

export interface ShardLag {
  readonly shard: number;
  /** As last written; undefined before the follower's first time there. */
  readonly offset: number | undefined;
  /** Undefined while the shard, or its group, cannot be read. */
  readonly head: number | undefined;
}

/** Shards whose heads one statement asks for. */
const HEADS_A_STATEMENT = 256;

/**
 * How far a follower is, for each shard in order. Offsets are a commit behind what is done (half a second or so).
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

/** The offsets as last written: the added id of each shard in order, undefined where there is none. */
export async function committedOffsets(
  stateTable: DynamoTable,
  follower: FollowerName,
  shards: number,
): Promise<(number | undefined)[]> {
  return (await committedLocations(stateTable, follower, shards)).map((location) => location?.added_id);
}

/** A shard's offset as last written, with the generation that its partition had. */
interface CommittedLocation extends ShardOffset {
  readonly generation: number;
}

/** The offsets as last written, with the fingerprints of their cells. */
export async function committedLocations(
  stateTable: DynamoTable,
  follower: FollowerName,
  shards: number,
): Promise<(CommittedLocation | undefined)[]> {
  const offsets: (CommittedLocation | undefined)[] = Array.from({ length: shards }, () => undefined);
  const { partitions = 0 } = (await readFollower(stateTable, follower)) ?? {};
  const items = offsetItems(stateTable, { ...follower, shards, partitions });
  await Promise.all(
    Array.from({ length: partitions }, async (_, partition) => {
      const item = await items.read(partition);
      for (const [position, offset] of item?.offsets.entries() ?? [])
        offsets[partition + position * partitions] = offset && item && { ...offset, generation: item.generation };
    }),
  );
  return offsets;
}
