import type { FollowEvent } from '../../follow/follower.ts';
import type { StoreContext } from '../../access/context.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import type { UnavailableGroups, SlowShards } from './unavailable-groups.ts';
import type { MistypedCounts } from './mistyped-counts.ts';
import type { WatchedIndexes } from './watched-indexes.ts';
import { RETIRED_FOR_MS } from '../index-table.ts';

export interface RepairWork {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  readonly datastore: string;
  readonly settings: RepairSettings;
  readonly indexes: WatchedIndexes;
  readonly unavailable: UnavailableGroups;
  readonly slow: SlowShards;
  readonly mistyped: MistypedCounts;
  readonly report: (event: RepairEvent) => void;
}

/** An event for metrics and logs. Never holds a body or a field's value. */
export type RepairEvent = { readonly datastore: string } & (
  | { readonly kind: 'followed'; readonly follower: string; readonly event: FollowEvent }
  /** Cells that the repair is behind, as far as groups can be read. */
  | { readonly kind: 'lag'; readonly cells: number }
  | { readonly kind: 'repaired'; readonly entries: number }
  /** Entries of an unreachable group wait for it, in the logs of so many shards. */
  | { readonly kind: 'pending'; readonly group: string; readonly shards: number }
  | { readonly kind: 'caught_up'; readonly group: string; readonly shards: number }
  | { readonly kind: 'live' | 'dropped'; readonly index: string; readonly hash: string }
  /** A group's writer is another server, and may lack the last cells. */
  | { readonly kind: 'writer_changed'; readonly group: string; readonly shards: number }
  | {
      readonly kind: 'verified';
      readonly index: string;
      readonly shards: number;
      readonly problems: number;
      readonly repaired: number;
    }
  | { readonly kind: 'purged'; readonly tombstones: number }
  /** Tried again later. Reported for the first failure in a row. */
  | { readonly kind: 'failed'; readonly what: string; readonly error: unknown }
);

const MINUTE = 60_000;

export const REPAIR_SETTINGS = {
  /** Delay behind the logs, in which writes maintain their entries themselves. */
  behindMs: 3000,
  /** Interval of the repair's offset commits: a killed run's successor compares so much again. */
  commitEveryMs: 5000,
  /** For all builds of a datastore together, in each slot. */
  buildCellsPerSecond: 5000,
  /** Interval of polls of topology, pending groups and builds: a new index waits for up to three. */
  pollMs: 3000,
  /** Greatest age of the index versions that cells are compared with. */
  versionsAgeMs: 1500,
  /** Delay from a cut log to its verification: writes under way have ended by then. */
  afterCutMs: 5000,
  /** Age of purged tombstones: no older entry is still being written. */
  tombstoneAgeMs: 24 * 60 * MINUTE,
  /** How long a retired version's tables stay. */
  retiredForMs: RETIRED_FOR_MS,
  /** Interval of counts for the largest shard's share; longer if they take long. */
  countEveryMs: 5 * MINUTE,
  /** How long a shard whose rows timed out is left out: about as long as an ALTER. */
  slowShardRestMs: 30_000,
};

export type RepairSettings = Readonly<typeof REPAIR_SETTINGS>;
