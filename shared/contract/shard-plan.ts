import type { SchemalessError } from '../errors.ts';

/** How large shards are, and which of them should be elsewhere. Types only. */

/** What the groups say of a datastore's shards. */
export interface ShardSizes {
  /** Every group that there is, also those that hold none of them. */
  readonly groups: readonly string[];
  /** All shards, in order. */
  readonly shards: readonly ShardSize[];
}

/** A shard and what it takes, or why that is not known. */
export type ShardSize =
  | {
      readonly shard: number;
      readonly group: string;
      /** Of its tables with their keys, those of indexes too: what the engine's statistics say, about. */
      readonly bytes: number;
      /** Exactly: the added id of the last one. */
      readonly cells: number;
      readonly error?: undefined;
    }
  | { readonly shard: number; readonly group: string; readonly error: SchemalessError };

export interface SizeOperations {
  /** Asks all groups side by side. Throws `unavailable` where the topology cannot be read. */
  shardSizes(): Promise<ShardSizes>;
}

export interface PlacedShard {
  readonly shard: number;
  /** Who holds it. */
  readonly group: string;
  readonly bytes: number;
  /** Cells written a second; 0 where nobody looked. */
  readonly rate: number;
  /** A move brings it to this group: it counts there, and is not planned again. */
  readonly movingTo?: string | undefined;
  /** Since it came to its group. @default it was always there, or for long */
  readonly movedSecondsAgo?: number | undefined;
}

export interface PlannedGroup {
  readonly group: string;
  /** How much it is to hold, compared with the others. @default 1 */
  readonly weight?: number | undefined;
  /** It is to hold nothing. @default false */
  readonly retire?: boolean | undefined;
}

export interface PlanOptions {
  /** How far a group may be from what it is to hold, as a part of that. @default 0.05 */
  readonly tolerance?: number | undefined;
  /** How much of what a shard weighs is its part of all writes, 0 to 1; its bytes are the rest. @default 0.2 */
  readonly rateWeight?: number | undefined;
  /** A shard that moved less than that ago stays, unless its group is to be emptied. @default 86400, a day */
  readonly coolDownSeconds?: number | undefined;
}

/** A shard that should be elsewhere. */
export interface PlannedMove {
  readonly shard: number;
  readonly from: string;
  readonly to: string;
  readonly bytes: number;
}
