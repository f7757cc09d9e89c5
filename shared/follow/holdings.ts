import type { FollowEvent } from './follower.ts';
import { heldPartition, type HeldPartition } from './held-partition.ts';
import type { HeldShard } from './held-shard.ts';
import { movedLongAgo } from './moved-long-ago.ts';
import type { OffsetItems } from './offset-items.ts';
import type { Workers } from './workers.ts';

interface HoldingsOptions {
  readonly items: OffsetItems;
  readonly workers: Workers;
  readonly partitions: number;
  /** How long a release waits for a page under way before it goes on without it. */
  readonly patienceMs: number;
  readonly now: () => number;
  readonly report: (event: FollowEvent) => void;
}

/** Requests to DynamoDB side by side. */
const SIDE_BY_SIDE = 16;

/** A shard whose partition may be worked on. */
export interface OpenShard {
  readonly partition: HeldPartition;
  readonly held: HeldShard;
}

/** The partitions that a worker holds. */
export interface Holdings {
  /** Those whose shards may be worked on, in order: followers that hold the same ones read the same pages. */
  open(): HeldPartition[];
  /** A shard that is held, and may be worked on. */
  openShard(shard: number): OpenShard | undefined;
  count(): number;
  /**
   * Whether somebody deleted what is kept of this follower: then nothing is taken any more, which would begin it anew.
   */
  isForgotten(): boolean;
  /** What still has to change hands, by what was last seen of the other workers. */
  moves(): { readonly taking: boolean; readonly releasing: boolean };
  /** One step towards the share. Throws what DynamoDB throws; then nothing is lost, and the next step goes on. */
  align(): Promise<void>;
  /**
   * Writes what was first seen here to have moved so long ago: each partition at a moment of its own, since all at once
   * would be felt. Partitions that were taken or rewound meanwhile are dropped, or go on from the new place.
   */
  commit(afterMs: number): Promise<void>;
  /** Writes the checkpoints of the next so many partitions in turn. */
  saveCheckpoints(count: number): Promise<void>;
  /** After a rewind, or when others took this worker for dead: looks what became of each partition. */
  reload(): Promise<void>;
  /** Gives up everything; pages under way are waited for. */
  releaseAll(wait: () => Promise<void>): Promise<void>;
}

/**
 * The partitions that a worker holds, brought in line with its share: what is not its own any more is finished,
 * committed and released; what is its own is taken as soon as it is free.
 */
export function openHoldings(options: HoldingsOptions): Holdings {
  return new HeldPartitions(options);
}

type PartitionEvent = Extract<FollowEvent, { readonly partition: number }>;

/** A partition of which no more pages are begun, and since when. */
interface Closing {
  readonly held: HeldPartition;
  readonly since: number;
}

class HeldPartitions implements Holdings {
  readonly #options: HoldingsOptions;
  readonly #held = new Map<number, HeldPartition>();
  readonly #closing = new Map<number, Closing>();
  readonly #dueAfter: ReturnType<typeof movedLongAgo<HeldPartition>>;
  #isForgotten = false;
  #saved = 0;

  constructor(options: HoldingsOptions) {
    this.#options = options;
    this.#dueAfter = movedLongAgo(options.now);
  }

  open(): HeldPartition[] {
    return [...this.#held.values()]
      .filter((partition) => partition.isOpen())
      .sort((one, other) => one.partition - other.partition);
  }

  openShard(shard: number): OpenShard | undefined {
    const { partitions } = this.#options;
    const partition = this.#held.get(shard % partitions);
    const held = partition?.shards[Math.floor(shard / partitions)];
    return partition?.isOpen() === true && held ? { partition, held } : undefined;
  }

  count(): number {
    return this.#held.size;
  }

  isForgotten(): boolean {
    return this.#isForgotten;
  }

  moves(): { readonly taking: boolean; readonly releasing: boolean } {
    const { workers, partitions } = this.#options;
    const mine = new Set(workers.share(partitions).mine);
    return {
      taking: [...mine].some((partition) => !this.#held.has(partition)),
      releasing: [...this.#held.keys()].some((partition) => !mine.has(partition)),
    };
  }

  async align(): Promise<void> {
    const { workers, partitions } = this.#options;
    this.#dropLost();
    if (this.#isForgotten) return;
    const { mine, others } = workers.share(partitions);
    const wanted = new Set(mine);
    for (const partition of wanted) if (this.#closing.delete(partition)) this.#held.get(partition)?.stay();
    await this.#close([...this.#held.values()].filter(({ partition }) => !wanted.has(partition)));
    await this.#releaseIdle();
    await each(
      mine.filter((partition) => !this.#held.has(partition)),
      (partition) => this.#take(partition, others),
    );
  }

  async commit(afterMs: number): Promise<void> {
    await each(this.#dueAfter([...this.#held.values()], afterMs), async (partition) => {
      const { generation } = partition.tenure();
      await partition.commit();
      if (partition.tenure().generation !== generation) this.#report('partition_rewound', partition);
    });
  }

  async saveCheckpoints(count: number): Promise<void> {
    const all = [...this.#held.values()];
    const next =
      all.length === 0
        ? []
        : Array.from(
            { length: Math.min(count, all.length) },
            (_, position) => all[(this.#saved + position) % all.length] as HeldPartition,
          );
    this.#saved += next.length;
    await each(next, (partition) => partition.saveCheckpoints());
  }

  async reload(): Promise<void> {
    await each([...this.#held.values()], async (partition) => {
      if ((await partition.reload()) === 'rewound') this.#report('partition_rewound', partition);
    });
  }

  async releaseAll(wait: () => Promise<void>): Promise<void> {
    while (this.#held.size > 0) {
      await this.#close([...this.#held.values()]);
      await this.#releaseIdle();
      if (this.#closing.size > 0) await wait();
    }
  }

  async #take(partition: number, others: readonly string[]): Promise<void> {
    const { items, workers, partitions } = this.#options;
    const taken = await items.take(partition, workers.owner, others);
    if (!taken) return;
    const held = heldPartition(items, partition, taken, partitions, await items.readCheckpoints(partition));
    this.#held.set(partition, held);
    this.#report('partition_taken', held);
  }

  /**
   * Stops new pages of some partitions; each goes once none is under way. Not of all at once: the others are followed
   * until it is their turn. A handler that hangs does not hold a partition for ever: its commits are fenced.
   */
  async #close(unwanted: readonly HeldPartition[]): Promise<void> {
    const next = unwanted
      .filter(({ partition }) => !this.#closing.has(partition))
      .slice(0, Math.max(0, SIDE_BY_SIDE - this.#closing.size));
    await each(next, async (held) => {
      await held.saveCheckpoints();
      held.close();
      this.#closing.set(held.partition, { held, since: this.#options.now() });
    });
  }

  async #releaseIdle(): Promise<void> {
    await each(
      [...this.#closing.values()].filter((closing) => this.#isDue(closing)),
      ({ held }) => this.#release(held),
    );
  }

  #isDue({ held, since }: Closing): boolean {
    return held.isIdle() || this.#options.now() - since >= this.#options.patienceMs;
  }

  async #release(partition: HeldPartition): Promise<void> {
    try {
      await partition.release();
    } catch (error) {
      // Nobody else can take it either: it is followed on until the table is back.
      this.#closing.delete(partition.partition);
      partition.stay();
      throw error;
    }
    this.#drop(partition);
    this.#report('partition_released', partition);
  }

  #dropLost(): void {
    for (const partition of this.#held.values()) {
      if (!partition.isLost()) continue;
      this.#isForgotten ||= partition.isForgotten();
      this.#drop(partition);
      this.#report('partition_lost', partition);
    }
  }

  #drop({ partition }: HeldPartition): void {
    this.#held.delete(partition);
    this.#closing.delete(partition);
  }

  #report(kind: PartitionEvent['kind'], { partition }: HeldPartition): void {
    this.#options.report({ kind, partition });
  }
}

async function each<T>(values: readonly T[], task: (value: T) => Promise<void>): Promise<void> {
  const queue = [...values];
  const failures: unknown[] = [];
  await Promise.all(
    Array.from({ length: Math.min(SIDE_BY_SIDE, queue.length) }, async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        await task(next).catch((error: unknown) => failures.push(error));
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
}
