import type { CellAddress, TransactionPlace } from '../cell.ts';
import type { ShardOffset } from './offsets.ts';

/**
 * Following the logs of a datastore's shards: nothing skipped, everything at least once, in the order of each log.
 *
 * - **follower**: a named reader of the logs: `repair`. Each has its own offsets.
 * - **worker**: one run of a follower's function. Several share the work; they come and go.
 * - **partition**: the shards s with s % partitions = p, followed together by one worker.
 * - **offset**: the added id up to which a shard is done, with the fingerprint of the cell there.
 * - **checkpoint**: an earlier offset with its fingerprint, to go back to when a log was cut.
 * - **generation**: rises with each rewind of a partition, and when a log of it was cut.
 */

export interface LogEntry extends CellAddress {
  readonly shard: number;
  readonly added_id: number;
  /** RFC 3339, UTC, six decimals. */
  readonly created_at: string;
  /** Absent for a cell written alone, and for an erased one. */
  readonly transaction?: TransactionPlace;
  /** 16 hexadecimal digits: another cell appended later at the same added id has another. */
  readonly fingerprint: string;
  /** Of the offset: a repeated cell with a higher one is a replay. */
  readonly generation: number;
}

/** The start of a shard without an offset. `since` is a time, inclusive. */
export type StartLocation = 'start' | 'now' | { readonly since: string };

export interface Follower {
  /** Letters, digits, `_`, `-` and `/`. */
  readonly name: string;
  readonly datastore: string;
  /** Cells of other columns only move the offset. @default every column */
  readonly columns?: readonly string[];
  readonly start: StartLocation;
  /** Whether cells after this offset are wanted now: otherwise the shard is not read. @default always */
  wants?(shard: number, offset: ShardOffset): boolean;
  /**
   * Handles cells of one group, in log order for each shard. Calls run in parallel, but never two with cells of one
   * shard. Returns for each shard the added id of the last cell that is done: the rest is given again. After an error
   * every offset stays; after a second one each shard is given by itself.
   */
  handle(group: string, cells: readonly LogEntry[]): Promise<ReadonlyMap<number, number>>;
}

export type FollowEvent =
  /** A hole has lasted this long. The worker waits for it and reports it once. */
  | { readonly kind: 'hole'; readonly shard: number; readonly added_id: number; readonly seconds: number }
  /** A log lacks cells that had been read. */
  | {
      readonly kind: 'cut';
      readonly shard: number;
      readonly offset: number;
      readonly back_to: number;
      readonly epoch: number;
    }
  /** A reader has another cell at the offset than the writer, or lacks it for long. */
  | { readonly kind: 'reader_differs'; readonly shard: number; readonly added_id: number }
  /** The readers of a group lack what its writer had ten seconds ago. */
  | { readonly kind: 'readers_behind' | 'readers_back'; readonly group: string }
  /** The epoch of a shard's row was behind the topology, and was raised. */
  | { readonly kind: 'epoch_repaired'; readonly shard: number; readonly epoch: number }
  /** A shard cannot be read, examined or handled: it alone waits. Reported at the first of consecutive failures. */
  | { readonly kind: 'shard_failed'; readonly shard: number; readonly error: unknown }
  /** A group cannot be read, or a handler threw. Reported at the first of consecutive failures. */
  | { readonly kind: 'group_failed' | 'handle_failed'; readonly group: string; readonly error: unknown }
  /** Leases and offsets cannot be written: the worker goes on with what it has. */
  | { readonly kind: 'state_failed'; readonly error: unknown }
  | {
      readonly kind: 'partition_taken' | 'partition_released' | 'partition_lost' | 'partition_rewound';
      readonly partition: number;
    };
