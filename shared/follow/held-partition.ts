import { withCheckpoint, type Checkpoint } from './checkpoints.ts';
import type { ShardOffset } from './encode-offsets.ts';
import type { OffsetItem, OffsetItems } from './offset-items.ts';

/** One shard of a partition that this worker holds. */
export interface HeldShard {
  readonly shard: number;
  /** Undefined until it is known where to begin. */
  offset: ShardOffset | undefined;
  checkpoints: readonly Checkpoint[];
  /** What looks wrong, and may pass by itself. */
  readonly doubts: Map<DoubtKind, Doubt>;
  /** A page with this shard is under way. */
  isBusy: boolean;
  /** Until when, by the local clock, it is read from the writer whatever was wished: a reader was found wrong. */
  writerUntil: number;
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

/** What a page of work is done under; it does not count any more once the partition was rewound or lost. */
export interface Tenure {
  readonly token: number;
  readonly generation: number;
}

/**
 * A partition in the hands of this worker: its offsets in memory, ahead of those committed. Nothing here waits for
 * DynamoDB but `commit` and what follows it, so that the work goes on while it is away.
 *
 * @param stride the number of partitions: from one shard of the partition to the next
 */
export function heldPartition(items: OffsetItems, partition: number, taken: OffsetItem, stride: number, checkpoints: readonly (readonly Checkpoint[])[]) {
  const { token } = taken;
  let { generation } = taken;
  let changes = 0;
  let committed = 0;
  let marked = false;
  let lost = false;
  let forgotten = false;
  let leaving = false;
  let pages = 0;
  let committing: Promise<unknown> | undefined;

  const shards: readonly HeldShard[] = taken.offsets.map((offset, place) => ({ shard: partition + place * stride, offset, checkpoints: checkpoints[place] ?? [], doubts: new Map(), isBusy: false, writerUntil: Number.NEGATIVE_INFINITY }));

  async function write(last = false): Promise<boolean> {
    const reached = changes;
    const written = await items.commit(partition, { token, generation }, shards.map(({ offset }) => offset), last);
    if (written) committed = reached;
    else await reload();
    return written;
  }

  /** Looks whether the partition was taken or rewound, and goes on from where the item says. */
  async function reload(): Promise<'held' | 'rewound' | 'lost'> {
    const item = await items.read(partition);
    if (!item || item.token !== token) {
      lost = true;
      forgotten = !item;
      return 'lost';
    }
    if (item.generation === generation) return 'held';
    generation = item.generation;
    for (const [place, shard] of shards.entries()) {
      shard.offset = item.offsets[place];
      shard.checkpoints = shard.checkpoints.filter(({ added_id }) => added_id < (shard.offset?.added_id ?? 0));
      shard.doubts.clear();
    }
    committed = changes;
    return 'rewound';
  }

  const held = {
    partition,
    shards,
    tenure: (): Tenure => ({ token, generation }),
    isLost: () => lost,
    /** Lost since its item is gone: the follower was forgotten, and nobody is to take it again. */
    isForgotten: () => forgotten,
    /** Whether a page of its shards may be begun. */
    isOpen: () => !lost && !leaving,
    hasMoved: () => changes > committed,

    /** Runs a page of work with this partition's shards; a release waits for it. */
    enter: () => void (pages += 1),
    leave: () => void (pages -= 1),

    /** Sets how far a shard is done, unless the partition was rewound or lost since. Goes back only where a log was cut. */
    move(shard: HeldShard, offset: ShardOffset, under: Tenure): void {
      if (lost || under.generation !== generation) return;
      const before = shard.offset;
      if (before && before.added_id === offset.added_id && before.fingerprint === offset.fingerprint && before.epoch === offset.epoch) return;
      shard.offset = offset;
      changes += 1;
      if (before && offset.added_id < before.added_id) shard.checkpoints = shard.checkpoints.filter(({ added_id }) => added_id <= offset.added_id);
      else if (offset.added_id > (before?.added_id ?? 0)) shard.checkpoints = withCheckpoint(shard.checkpoints, offset);
      marked = true;
    },

    /** Writes the offsets if any moved. One write at a time; what moves meanwhile is left to the next. */
    async commit(): Promise<void> {
      if (!committing && (lost || changes === committed)) return;
      committing ??= write().finally(() => {
        committing = undefined;
      });
      await committing;
    },

    reload,

    async saveCheckpoints(): Promise<void> {
      if (!marked || lost) return;
      marked = false;
      await items.writeCheckpoints(partition, shards.map((shard) => shard.checkpoints));
    },

    /** Begins no more pages, until `stay`. */
    close: () => void (leaving = true),
    stay: () => void (leaving = false),
    isIdle: () => pages === 0,

    /** Commits all, and lets the next worker take the partition, in one write. */
    async release(): Promise<void> {
      leaving = true;
      await committing;
      const released = !lost && changes > committed && (await write(true));
      if (!released && !lost) await items.release(partition, token);
      lost = true;
    },
  };
  return held;
}

export type HeldPartition = ReturnType<typeof heldPartition>;
