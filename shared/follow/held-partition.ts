import type { Checkpoint, ShardOffset } from './offsets.ts';
import { heldShard, moveTo, rewindTo, type HeldShard } from './held-shard.ts';
import type { CommitOptions, OffsetItem, OffsetItems } from './offset-items.ts';

/**
 * Identifies what a page of work is done under: its results count only until the partition is rewound, cut, or lost.
 */
export interface Tenure {
  readonly token: number;
  readonly generation: number;
}

/**
 * A partition that this worker holds, with its offsets in memory, ahead of those committed. Only methods that return a
 * promise wait for DynamoDB, so that work goes on while it is unavailable.
 */
export class HeldPartition {
  readonly partition: number;
  readonly shards: readonly HeldShard[];
  readonly #items: Pick<OffsetItems, 'read' | 'commit' | 'release' | 'writeCheckpoints'>;
  readonly #token: number;
  #generation: number;
  #changes = 0;
  /** The number of changes that are written. */
  #committed = 0;
  /** There may be checkpoints that are not written. */
  #isMarked = false;
  #isLost = false;
  #isForgotten = false;
  #isLeaving = false;
  #pagesUnderWay = 0;
  /** The write under way: there are never two. */
  #writing: Promise<boolean> | undefined;

  /** @param stride the number of partitions: from one shard of the partition to the next */
  constructor(
    items: Pick<OffsetItems, 'read' | 'commit' | 'release' | 'writeCheckpoints'>,
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

  /** Lost because its item is gone: the follower was forgotten, and no worker may take it again. */
  isForgotten(): boolean {
    return this.#isForgotten;
  }

  /** Whether a page of its shards may begin. */
  isOpen(): boolean {
    return !this.#isLost && !this.#isLeaving;
  }

  hasMoved(): boolean {
    return this.#changes > this.#committed;
  }

  /** Begins a page of work with its shards; a release waits for `leave`. */
  enter(): void {
    this.#pagesUnderWay += 1;
  }

  leave(): void {
    this.#pagesUnderWay -= 1;
  }

  /** Sets where a shard begins; the next commit saves it, so that the next worker begins at the same place. */
  startAt(shard: HeldShard, start: ShardOffset, under: Tenure): void {
    if (!this.#isUnder(under) || shard.offset || shard.start) return;
    shard.start = start;
    this.#changes += 1;
  }

  /** Sets how far a shard is done, unless the partition was rewound or lost since. */
  move(shard: HeldShard, offset: ShardOffset, under: Tenure): void {
    if (!this.#isUnder(under)) return;
    if (!moveTo(shard, offset)) return;
    this.#changes += 1;
    this.#isMarked = true;
  }

  /**
   * Sets a shard back whose log was cut, under the next generation: what was handed out before names added ids that
   * other cells have by now. The write comes before any of them is handed out. Returns false if the partition was
   * rewound or lost since, or a write is under way: the cut is then found again.
   */
  async goBack(shard: HeldShard, offset: ShardOffset, under: Tenure): Promise<boolean> {
    await this.#writing?.catch(() => undefined);
    if (this.#writing || !this.#isUnder(under)) return false;
    if (!(await this.#beginWrite({ next: true }, new Map([[shard, offset]])))) return false;
    // A reload in between has read it.
    if (under.generation === this.#generation) {
      this.#generation += 1;
      this.#isMarked = moveTo(shard, offset);
    }
    return true;
  }

  /** Writes the offsets if any moved; what moves in the meantime is left to the next commit. */
  async commit(): Promise<void> {
    if (!this.#writing && (this.#isLost || this.#changes === this.#committed)) return;
    await (this.#writing ?? this.#beginWrite());
  }

  /** Checks whether the partition was taken or rewound, and goes on from where the item says. */
  async reload(): Promise<'held' | 'rewound' | 'lost'> {
    const item = await this.#items.read(this.partition);
    if (!item || item.token !== this.#token) {
      this.#isLost = true;
      this.#isForgotten = !item;
      return 'lost';
    }
    if (item.generation === this.#generation) return 'held';
    this.#generation = item.generation;
    for (const [position, shard] of this.shards.entries()) rewindTo(shard, item.offsets[position]);
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

  /** Begins no more pages, until `stay`. */
  close(): void {
    this.#isLeaving = true;
  }

  stay(): void {
    this.#isLeaving = false;
  }

  isIdle(): boolean {
    return this.#pagesUnderWay === 0;
  }

  /** Commits all, and lets the next worker take the partition, in one write. */
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
