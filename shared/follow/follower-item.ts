import type { DynamoTable } from '../dynamo/table.ts';
import { readState, updateState, type StateItem } from '../dynamo/state-table.ts';

/** What all workers of a follower agree on. */
interface FollowerItem {
  /** Fixed when the follower first ran: the offsets lie by partition. */
  readonly partitions: number;
  /** Goes up with each rewind, so that a worker that has nothing to commit notices it too. */
  readonly changes: number;
}

export interface FollowerName {
  readonly name: string;
  readonly datastore: string;
}

/** As many as workers that may share a follower (`MAX_TAILERS`). */
const MANY_PARTITIONS = 64;
/** Of a small datastore: each costs some requests with each hand-over, every minute, also while nothing is written. */
const FEW_PARTITIONS = 8;
const SHARDS_OF_ONE = 8;
/** DynamoDB takes 400 KB an item: 17 checkpoints of a shard are 273 bytes at most, those of so many shards 280 KB. */
const MOST_SHARDS = 1024;

export function followerKey({ name, datastore }: FollowerName): string {
  return `follower#${name}#${datastore}`;
}

/** Partitions of a new follower of a datastore of so many shards: one for 8 shards, 8 to 64, no more than shards. */
export function defaultPartitions(shards: number): number {
  const many = Math.min(Math.max(Math.ceil(shards / SHARDS_OF_ONE), FEW_PARTITIONS), MANY_PARTITIONS, shards);
  return Math.max(many, Math.ceil(shards / MOST_SHARDS));
}

/**
 * Reads what is agreed on, agreeing on it first where the follower is new.
 *
 * @param wanted partitions of a new follower: at least one for each 1024 shards, at most one for each shard.
 *   @default by `defaultPartitions`
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

/** Undefined when the follower has never run, or was forgotten. */
export async function readFollower(table: DynamoTable, follower: FollowerName): Promise<FollowerItem | undefined> {
  const item = await readState(table, followerKey(follower));
  return item && toFollowerItem(item);
}

/** Makes every worker look at the items of its partitions. */
export async function tellChange(table: DynamoTable, follower: FollowerName): Promise<void> {
  await updateState(table, { key: followerKey(follower), update: 'ADD #changes :one', values: { ':one': { N: '1' } } });
}

function toFollowerItem(item: StateItem): FollowerItem {
  return { partitions: Number(item['partitions']?.N ?? 0), changes: Number(item['changes']?.N ?? 0) };
}

/** How many shards a partition holds; shard `partition + position * partitions` is at `position`. */
export function shardsIn(partition: number, partitions: number, shards: number): number {
  return Math.ceil((shards - partition) / partitions);
}
