import type { FollowEvent } from '../../follow/follower.ts';
import type { StoreContext } from '../../access/context.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import type { AwayGroups } from './away-groups.ts';
import type { MistypedCounts } from './mistyped-counts.ts';
import type { SlowShards } from './slow-shards.ts';
import type { RepairSettings } from './settings.ts';
import type { WatchedIndexes } from './watched-indexes.ts';

export interface RepairWork {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  readonly datastore: string;
  readonly settings: RepairSettings;
  readonly indexes: WatchedIndexes;
  readonly away: AwayGroups;
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
      readonly mended: number;
    }
  | { readonly kind: 'purged'; readonly tombstones: number }
  /** Tried again later. Reported for the first failure in a row. */
  | { readonly kind: 'failed'; readonly what: string; readonly error: unknown }
);
