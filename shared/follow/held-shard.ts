import { withCheckpoint, type Checkpoint } from './checkpoints.ts';
import type { ShardOffset } from './encode-offsets.ts';
import type { SeenHead } from './seen-heads.ts';
import type { Trouble } from './trouble.ts';

/** One shard of a partition that this worker holds. */
export interface HeldShard {
  readonly shard: number;
  /** Undefined until it is written where to begin. */
  offset: ShardOffset | undefined;
  /** Where to begin, as it was found, until that is written. */
  start: ShardOffset | undefined;
  checkpoints: readonly Checkpoint[];
  /** How far the log went when, for a follower that keeps behind it. */
  heads: readonly SeenHead[];
  /** What looks wrong, and may pass by itself. */
  readonly doubts: Map<DoubtKind, Doubt>;
  /** Undefined while all is well. */
  trouble: Trouble | undefined;
  /** A page with this shard is under way. */
  isBusy: boolean;
  /** Until when, by the local clock, it is read from the writer whatever was wished: a reader was found wrong. */
  writerUntil: number;
  /** When, by the local clock, the last read began that came to its end, with nothing left to do or to doubt. */
  readAt: number;
  /** Until when, by the local clock, more is expected of it: it rang, or cells that are wanted were just handled. */
  busyUntil: number;
  /** When, by the local clock, it last rang. */
  rungAt: number;
}

/** A hole in the log; the cell at the offset gone; an epoch that does not fit. */
export type DoubtKind = 'hole' | 'gone' | 'epoch';

export interface Doubt {
  /** The added id, or epoch, in doubt. */
  readonly at: number;
  /** By the local clock. */
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

/** Sets how far a shard is done, and keeps what to go back to. Returns whether that changes anything. */
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
    // Of a log that was cut: other cells take these added ids.
    shard.heads = [];
  } else if (offset.added_id > 0)
    shard.checkpoints = withCheckpoint(shard.checkpoints, {
      added_id: offset.added_id,
      fingerprint: offset.fingerprint,
    });
  return true;
}

/** Goes on from where a rewind put a shard, and knows nothing else of it. */
export function setAnew(shard: HeldShard, offset: ShardOffset | undefined): void {
  shard.offset = offset;
  shard.start = undefined;
  shard.readAt = Number.NEGATIVE_INFINITY;
  shard.checkpoints = shard.checkpoints.filter(({ added_id }) => added_id < (offset?.added_id ?? 0));
  shard.doubts.clear();
}
