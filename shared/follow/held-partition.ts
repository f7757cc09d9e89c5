import type { Checkpoint } from './checkpoints.ts';
import type { ShardOffset } from './encode-offsets.ts';
import { heldShard, moveTo, setAnew, type HeldShard } from './held-shard.ts';
import type { CommitOptions, OffsetItem, OffsetItems } from './offset-items.ts';

/**
 * What a page of work is done under; it does not count any more once the partition was rewound, went back, or was lost.
 */
export interface Tenure {
  readonly token: number;
  readonly generation: number;
}

/** A partition in the hands of a worker: what it may do with it, and how far it is. */
export interface HeldPartition {
  readonly partition: number;
  readonly shards: readonly HeldShard[];
  tenure(): Tenure;
  isLost(): boolean;
  /** Lost since its item is gone: the follower was forgotten, and nobody is to take it again. */
  isForgotten(): boolean;
  /** Whether a page of its shards may be begun. */
  isOpen(): boolean;
  hasMoved(): boolean;
  /** Runs a page of work with this partition's shards; a release waits for it. */
  enter(): void;
  leave(): void;
  /**
   * Says where a shard begins that has no offset. It gets one with the next commit, and not before: who takes the
   * partition next would look for a start of its own otherwise, and skip what lies between the two.
   */
  startAt(shard: HeldShard, start: ShardOffset, under: Tenure): void;
  /** Sets how far a shard is done, unless the partition was rewound or lost since. */
  move(shard: HeldShard, offset: ShardOffset, under: Tenure): void;
  /**
   * Sets a shard back whose log was cut, under the next generation: what was handed out before, and is handed in later,
   * names added ids that other cells have by now. It is written before any of them is handed out.
   *
   * @returns false where the partition was rewound or lost since, or others write: the cut is found again then
   */
  goBack(shard: HeldShard, offset: ShardOffset, under: Tenure): Promise<boolean>;
  /** Writes the offsets if any moved. One write at a time; what moves meanwhile is left to the next. */
  commit(): Promise<void>;
  reload(): Promise<'held' | 'rewound' | 'lost'>;
  saveCheckpoints(): Promise<void>;
  /** Begins no more pages, until `stay`. */
  close(): void;
  stay(): void;
  isIdle(): boolean;
  /** Commits all, and lets the next worker take the partition, in one write. */
  release(): Promise<void>;
}

/**
 * A partition in the hands of this worker: its offsets in memory, ahead of those committed. Nothing here waits for
 * DynamoDB but `commit` and what follows it, so that the work goes on while it is away.
 *
 * @param stride the number of partitions: from one shard of the partition to the next
 */
export function heldPartition(
  items: OffsetItems,
  partition: number,
  taken: OffsetItem,
  stride: number,
  checkpoints: readonly (readonly Checkpoint[])[],
): HeldPartition {
  const { token } = taken;
  let { generation } = taken;
  let changes = 0;
  let committed = 0;
  let marked = false;
  let lost = false;
  let forgotten = false;
  let leaving = false;
  let pages = 0;

  const shards: readonly HeldShard[] = taken.offsets.map((offset, place) =>
    heldShard(partition + place * stride, offset, checkpoints[place]),
  );

  async function write(options: CommitOptions = {}, changed?: ReadonlyMap<HeldShard, ShardOffset>): Promise<boolean> {
    const reached = changes;
    const offsets = shards.map((shard) => changed?.get(shard) ?? shard.offset ?? shard.start);
    const written = await items.commit(partition, { token, generation }, offsets, options);
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

  const writing = rememberUnderWay(write);
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

    /** Sets how far a shard is done, unless the partition was rewound or lost since. */
    move(shard: HeldShard, offset: ShardOffset, under: Tenure): void {
      if (lost || under.generation !== generation) return;
      if (!moveTo(shard, offset)) return;
      changes += 1;
      marked = true;
    },

    /**
     * Sets a shard back whose log was cut, under the next generation: what was handed out before, and is handed in
     * later, names added ids that other cells have by now. It is written before any of them is handed out.
     *
     * @returns false where the partition was rewound or lost since, or others write: the cut is found again then
     */
    async goBack(shard: HeldShard, offset: ShardOffset, under: Tenure): Promise<boolean> {
      await writing.underWay()?.catch(() => undefined);
      if (
        writing.underWay() ||
        lost ||
        under.generation !== generation ||
        !(await writing.begin({ next: true }, new Map([[shard, offset]])))
      )
        return false;
      // Who reloaded meanwhile has read it.
      if (under.generation === generation) {
        generation += 1;
        marked = moveTo(shard, offset);
      }
      return true;
    },

    /** Writes the offsets if any moved. One write at a time; what moves meanwhile is left to the next. */
    async commit(): Promise<void> {
      if (!writing.underWay() && (lost || changes === committed)) return;
      await (writing.underWay() ?? writing.begin());
    },

    reload,

    async saveCheckpoints(): Promise<void> {
      if (!marked || lost) return;
      marked = false;
      await items.writeCheckpoints(
        partition,
        shards.map((shard) => shard.checkpoints),
      );
    },

    /** Begins no more pages, until `stay`. */
    close: () => void (leaving = true),
    stay: () => void (leaving = false),
    isIdle: () => pages === 0,

    /** Commits all, and lets the next worker take the partition, in one write. */
    async release(): Promise<void> {
      leaving = true;
      await writing.underWay();
      const released = !lost && changes > committed && (await write({ last: true }));
      if (!released && !lost) await items.release(partition, token);
      lost = true;
    },
  };
  return held;
}

/** Calls of a function of which no two are to be under way at once. */
function rememberUnderWay<Args extends unknown[], T>(call: (...args: Args) => Promise<T>) {
  let underWay: Promise<T> | undefined;
  return {
    underWay: () => underWay,
    begin(...args: Args): Promise<T> {
      underWay = call(...args).finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
  };
}
