import type { Checkpoint } from './checkpoints.ts';
import type { ShardOffset } from './encode-offsets.ts';
import { heldShard, moveTo, setAnew, type HeldShard } from './held-shard.ts';
import type { OffsetItem, OffsetItems } from './offset-items.ts';

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

  const shards: readonly HeldShard[] = taken.offsets.map((offset, place) => heldShard(partition + place * stride, offset, checkpoints[place]));

  async function write(last = false): Promise<boolean> {
    const reached = changes;
    const offsets = shards.map(({ offset, start }) => offset ?? start);
    const written = await items.commit(partition, { token, generation }, offsets, last);
    if (!written) {
      await reload();
      return false;
    }
    committed = reached;
    for (const [place, shard] of shards.entries()) shard.offset ??= offsets[place];
    return true;
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
    for (const [place, shard] of shards.entries()) setAnew(shard, item.offsets[place]);
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

    /**
     * Says where a shard begins that has no offset. It gets one with the next commit, and not before: who takes the
     * partition next would look for a start of its own otherwise, and skip what lies between the two.
     */
    startAt(shard: HeldShard, start: ShardOffset, under: Tenure): void {
      if (lost || under.generation !== generation || shard.offset || shard.start) return;
      shard.start = start;
      changes += 1;
    },

    /** Sets how far a shard is done, unless the partition was rewound or lost since. Goes back only where a log was cut. */
    move(shard: HeldShard, offset: ShardOffset, under: Tenure): void {
      if (lost || under.generation !== generation) return;
      if (!moveTo(shard, offset)) return;
      changes += 1;
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
