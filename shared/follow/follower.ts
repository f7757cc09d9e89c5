import type { CellAddress } from '../cell.ts';
import type { ShardOffset } from './encode-offsets.ts';

/**
 * Following the logs of a datastore's shards: nothing skipped, everything at least once, in the order of each log.
 *
 * - **follower**: who follows, by name: `repair`. Each has its own offsets.
 * - **worker**: one run of a follower's function. Several share the work; they come and go.
 * - **partition**: the shards s with s % partitions = p, followed together by one worker.
 * - **offset**: the added id up to which a shard is done, with the fingerprint of the cell there.
 * - **checkpoint**: an earlier offset with its fingerprint, to go back to when a log was cut.
 * - **generation**: goes up with each rewind of a partition, and where a log of it was cut.
 */

/** A cell's place in a log, without its body. */
export interface LogEntry extends CellAddress {
  readonly shard: number;
  readonly added_id: number;
  /** RFC 3339, UTC, six decimals. */
  readonly created_at: string;
  /** Of the cell, 16 hexadecimal digits: a cell appended anew at the same added id has another. */
  readonly fingerprint: string;
  /** Of the offset under which this cell is handled: repetitions within one are repeats, a higher one is a replay. */
  readonly generation: number;
}

/** Where a follower begins with a shard that it has no offset for. `since` is a time, inclusive. */
export type StartLocation = 'start' | 'now' | { readonly since: string };

export interface Follower {
  /** Letters, digits, `_`, `-` and `/`. */
  readonly name: string;
  readonly datastore: string;
  /** Cells of other columns only move the offset. @default every column */
  readonly columns?: readonly string[];
  readonly start: StartLocation;
  /**
   * Whether cells of a shard after this offset are wanted now: the shard is not read while they are not. @default
   * always
   */
  wants?(shard: number, offset: ShardOffset): boolean;
  /**
   * Does what is to be done with cells of one group, in log order for each shard. Calls run side by side, for different
   * groups and where one takes long, but never two with cells of the same shard.
   *
   * @returns how far each shard is done, as the added id of one of the cells given. A shard left out, or done in part,
   *   is given again from there. Throwing leaves every offset where it is; where it
   *   throws again, each shard is given by itself, so that the others go on.
   */
  handle(group: string, cells: readonly LogEntry[]): Promise<ReadonlyMap<number, number>>;
}

/** Something worth a metric or a log line. */
export type FollowEvent =
  /** A hole in a log has lasted this long; it is waited for, never stepped over. Told once for each hole. */
  | { readonly kind: 'hole'; readonly shard: number; readonly added_id: number; readonly seconds: number }
  /** A log lacks cells that had been read: went back to `back_to`, and the shard's epoch is now `epoch`. */
  | {
      readonly kind: 'cut';
      readonly shard: number;
      readonly offset: number;
      readonly back_to: number;
      readonly epoch: number;
    }
  /** A reader has another cell at the offset than the writer, or lacks it for long: the writer is read for a while. */
  | { readonly kind: 'reader_differs'; readonly shard: number; readonly added_id: number }
  /** Readers of a group lack what its writer had ten seconds ago: it is read until they have it. */
  | { readonly kind: 'readers_behind' | 'readers_back'; readonly group: string }
  /** The epoch of a shard's row was behind the topology, and was lifted. */
  | { readonly kind: 'epoch_mended'; readonly shard: number; readonly epoch: number }
  /**
   * A log cannot be read, or one in doubt not be looked into, or its cells cannot be handled: this shard waits, is
   * tried again within seconds, and keeps no other waiting. Told at the first failure of a row of them.
   */
  | { readonly kind: 'shard_failed'; readonly shard: number; readonly error: unknown }
  /** A group cannot be read, or a handler threw. Told at the first failure of a row of them. */
  | { readonly kind: 'group_failed' | 'handle_failed'; readonly group: string; readonly error: unknown }
  /** Leases and offsets cannot be written: the worker goes on with what it has. */
  | { readonly kind: 'state_failed'; readonly error: unknown }
  | {
      readonly kind: 'partition_taken' | 'partition_released' | 'partition_lost' | 'partition_rewound';
      readonly partition: number;
    };
