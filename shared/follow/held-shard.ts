import { withCheckpoint, type Checkpoint } from './checkpoints.ts';
import type { ShardOffset } from './encode-offsets.ts';
import type { SeenHead } from './seen-heads.ts';
import type { Trouble } from './trouble.ts';

export interface HeldShard {
  readonly shard: number;
  /** Undefined until the start is written. */
  offset: ShardOffset | undefined;
  /** The start that was found, until it is written. */
  start: ShardOffset | undefined;
  checkpoints: readonly Checkpoint[];
  /** How far the log went when, for a follower that stays behind it. */
  heads: readonly SeenHead[];
  /** Suspicions that may pass by themselves. */
  readonly doubts: Map<DoubtKind, Doubt>;
  trouble: Trouble | undefined;
  isBusy: boolean;
  /** The writer is read until then (local clock, as below), since a reader was found wrong. */
  writerUntil: number;
  /** When the last read began that found the end, with nothing left to do. */
  readAt: number;
  /** More cells are expected until then. */
  busyUntil: number;
  rungAt: number;
}

/** A hole in the log; the cell at the offset is gone; an epoch that does not fit. */
export type DoubtKind = 'hole' | 'gone' | 'epoch';

export interface Doubt {
  /** The added id, or epoch, in doubt. */
  readonly at: number;
  since: number;
  told: boolean;
}

export function heldShard(
  shard: number,
  offset: ShardOffset | undefined,
  checkpoints: readonly Checkpoint[] = [],
): HeldShard {
  return {
    shard,
    offset,
    start: undefined,
    checkpoints,
    heads: [],
    doubts: new Map(),
    trouble: undefined,
    isBusy: false,
    writerUntil: Number.NEGATIVE_INFINITY,
    readAt: Number.NEGATIVE_INFINITY,
    busyUntil: Number.NEGATIVE_INFINITY,
    rungAt: Number.NEGATIVE_INFINITY,
  };
}

/** Sets how far a shard is done, and keeps checkpoints. Returns whether that changes anything. */
export function moveTo(shard: HeldShard, offset: ShardOffset): boolean {
  const before = shard.offset;
  if (
    before &&
    before.added_id === offset.added_id &&
    before.fingerprint === offset.fingerprint &&
    before.epoch === offset.epoch
  )
    return false;
  shard.offset = offset;
  if (before && offset.added_id < before.added_id) {
    shard.checkpoints = shard.checkpoints.filter(({ added_id }) => added_id <= offset.added_id);
    // The log was cut: other cells take these added ids.
    shard.heads = [];
  } else if (offset.added_id > 0)
    shard.checkpoints = withCheckpoint(shard.checkpoints, {
      added_id: offset.added_id,
      fingerprint: offset.fingerprint,
    });
  return true;
}

/** Continues from where a rewind put a shard. */
export function setAnew(shard: HeldShard, offset: ShardOffset | undefined): void {
  shard.offset = offset;
  shard.start = undefined;
  shard.readAt = Number.NEGATIVE_INFINITY;
  shard.checkpoints = shard.checkpoints.filter(({ added_id }) => added_id < (offset?.added_id ?? 0));
  shard.doubts.clear();
}
