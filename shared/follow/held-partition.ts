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
  /** Looks whether the partition was taken or rewound, and goes on from where the item says. */
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
  return new PartitionInHand(items, partition, taken, stride, checkpoints);
}

class PartitionInHand implements HeldPartition {
  readonly partition: number;
  readonly shards: readonly HeldShard[];
  readonly #items: OffsetItems;
  readonly #token: number;
  #generation: number;
  #changes = 0;
  /** How many of the changes are written. */
  #committed = 0;
  /** Whether there may be checkpoints that are not written. */
  #isMarked = false;
  #isLost = false;
  #isForgotten = false;
  #isLeaving = false;
  /** Under way. */
  #pages = 0;
  /** Under way: no two at once. */
  #writing: Promise<boolean> | undefined;

  constructor(
    items: OffsetItems,
    partition: number,
    taken: OffsetItem,
    stride: number,
    checkpoints: readonly (readonly Checkpoint[])[],
  ) {
    this.#items = items;
    this.partition = partition;
    this.#token = taken.token;
    this.#generation = taken.generation;
    this.shards = taken.offsets.map((offset, position) =>
      heldShard(partition + position * stride, offset, checkpoints[position]),
    );
  }

  tenure(): Tenure {
    return { token: this.#token, generation: this.#generation };
  }

  isLost(): boolean {
    return this.#isLost;
  }

  isForgotten(): boolean {
    return this.#isForgotten;
  }

  isOpen(): boolean {
    return !this.#isLost && !this.#isLeaving;
  }

  hasMoved(): boolean {
    return this.#changes > this.#committed;
  }

  enter(): void {
    this.#pages += 1;
  }

  leave(): void {
    this.#pages -= 1;
  }

  startAt(shard: HeldShard, start: ShardOffset, under: Tenure): void {
    if (!this.#isUnder(under) || shard.offset || shard.start) return;
    shard.start = start;
    this.#changes += 1;
  }

  move(shard: HeldShard, offset: ShardOffset, under: Tenure): void {
    if (!this.#isUnder(under)) return;
    if (!moveTo(shard, offset)) return;
    this.#changes += 1;
    this.#isMarked = true;
  }

  async goBack(shard: HeldShard, offset: ShardOffset, under: Tenure): Promise<boolean> {
    await this.#writing?.catch(() => undefined);
    if (this.#writing || !this.#isUnder(under)) return false;
    if (!(await this.#beginWrite({ next: true }, new Map([[shard, offset]])))) return false;
    // Who reloaded meanwhile has read it.
    if (under.generation === this.#generation) {
      this.#generation += 1;
      this.#isMarked = moveTo(shard, offset);
    }
    return true;
  }

  async commit(): Promise<void> {
    if (!this.#writing && (this.#isLost || this.#changes === this.#committed)) return;
    await (this.#writing ?? this.#beginWrite());
  }

  async reload(): Promise<'held' | 'rewound' | 'lost'> {
    const item = await this.#items.read(this.partition);
    if (!item || item.token !== this.#token) {
      this.#isLost = true;
      this.#isForgotten = !item;
      return 'lost';
    }
    if (item.generation === this.#generation) return 'held';
    this.#generation = item.generation;
    for (const [position, shard] of this.shards.entries()) setAnew(shard, item.offsets[position]);
    this.#committed = this.#changes;
    return 'rewound';
  }

  async saveCheckpoints(): Promise<void> {
    if (!this.#isMarked || this.#isLost) return;
    this.#isMarked = false;
    await this.#items.writeCheckpoints(
      this.partition,
      this.shards.map((shard) => shard.checkpoints),
    );
  }

  close(): void {
    this.#isLeaving = true;
  }

  stay(): void {
    this.#isLeaving = false;
  }

  isIdle(): boolean {
    return this.#pages === 0;
  }

  async release(): Promise<void> {
    this.#isLeaving = true;
    await this.#writing;
    const isReleased = !this.#isLost && this.hasMoved() && (await this.#write({ last: true }));
    if (!isReleased && !this.#isLost) await this.#items.release(this.partition, this.#token);
    this.#isLost = true;
  }

  #isUnder({ generation }: Tenure): boolean {
    return !this.#isLost && generation === this.#generation;
  }

  #beginWrite(options?: CommitOptions, changed?: ReadonlyMap<HeldShard, ShardOffset>): Promise<boolean> {
    this.#writing = this.#write(options, changed).finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #write(options: CommitOptions = {}, changed?: ReadonlyMap<HeldShard, ShardOffset>): Promise<boolean> {
    const reached = this.#changes;
    const offsets = this.shards.map((shard) => changed?.get(shard) ?? shard.offset ?? shard.start);
    const written = await this.#items.commit(this.partition, this.tenure(), offsets, options);
    if (!written) {
      await this.reload();
      return false;
    }
    this.#committed = reached;
    for (const [position, shard] of this.shards.entries()) shard.offset ??= offsets[position];
    return true;
  }
}
