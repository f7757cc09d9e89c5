import type { DynamoTable } from '../dynamo/table.ts';
import { readState, updateState, type StateItem } from '../dynamo/state-table.ts';

/** The settings that the workers of a follower share. */
interface FollowerItem {
  /** Fixed at the first run: the offsets lie by partition. */
  readonly partitions: number;
  /** Goes up with each rewind, so that a worker with nothing to commit notices it. */
  readonly changes: number;
}

export interface FollowerName {
  readonly name: string;
  readonly datastore: string;
}

/** As many as workers may share a follower (`MAX_TAILERS`). */
const MANY_PARTITIONS = 64;
/** For a small datastore: each partition costs some requests at each hand-over, every minute. */
const FEW_PARTITIONS = 8;
const SHARDS_OF_ONE = 8;
/** DynamoDB takes 400 KB an item; the checkpoints of a shard take 273 bytes at most. */
const MOST_SHARDS = 1024;

export function followerKey({ name, datastore }: FollowerName): string {
  return `follower#${name}#${datastore}`;
}

/** Returns the partitions of a new follower: one for 8 shards, from 8 to 64, and no more than shards. */
export function defaultPartitions(shards: number): number {
  const many = Math.min(Math.max(Math.ceil(shards / SHARDS_OF_ONE), FEW_PARTITIONS), MANY_PARTITIONS, shards);
  return Math.max(many, Math.ceil(shards / MOST_SHARDS));
}

/**
 * Reads the follower's item, and creates it if the follower is new. `wanted`: partitions of a new follower, at least
 * one for 1024 shards and at most one a shard.
 */
export async function openFollower(
  table: DynamoTable,
  follower: FollowerName,
  shards: number,
  wanted = defaultPartitions(shards),
): Promise<FollowerItem> {
  if (!Number.isInteger(wanted) || wanted > shards || wanted < shards / MOST_SHARDS) {
    throw new Error(
      `partitions of ${follower.name}: wanted an integer from ${Math.ceil(shards / MOST_SHARDS)} to ${shards}, got ${wanted}`,
    );
  }
  const existing = await readFollower(table, follower);
  if (existing) return existing;
  const created = await updateState(table, {
    key: followerKey(follower),
    update: 'SET #partitions = if_not_exists(#partitions, :wanted), #changes = if_not_exists(#changes, :none)',
    values: { ':wanted': { N: String(wanted) }, ':none': { N: '0' } },
  });
  return toFollowerItem(created ?? {});
}

/** Returns undefined if the follower has never run, or was forgotten. */
export async function readFollower(table: DynamoTable, follower: FollowerName): Promise<FollowerItem | undefined> {
  const item = await readState(table, followerKey(follower));
  return item && toFollowerItem(item);
}

/** Makes every worker reload its partitions. */
export async function tellChange(table: DynamoTable, follower: FollowerName): Promise<void> {
  await updateState(table, { key: followerKey(follower), update: 'ADD #changes :one', values: { ':one': { N: '1' } } });
}

function toFollowerItem(item: StateItem): FollowerItem {
  return { partitions: Number(item['partitions']?.N ?? 0), changes: Number(item['changes']?.N ?? 0) };
}

/** Returns how many shards a partition holds; shard `partition + position * partitions` is at `position`. */
export function shardsIn(partition: number, partitions: number, shards: number): number {
  return Math.ceil((shards - partition) / partitions);
}
