import type { FollowEvent } from './follower.ts';
import { HeldPartition } from './held-partition.ts';
import type { HeldShard } from './held-shard.ts';
import type { OffsetItems } from './offset-items.ts';
import type { Workers } from './workers.ts';

interface AssignmentOptions {
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

type PartitionEvent = Extract<FollowEvent, { readonly partition: number }>;

/** A partition of which no more pages are begun, and since when. */
interface Closing {
  readonly held: HeldPartition;
  readonly since: number;
}

/** A worker's partitions, brought in line with its share: others' are released, its own taken once free. */
export class AssignedPartitions {
  readonly #options: AssignmentOptions;
  readonly #held = new Map<number, HeldPartition>();
  readonly #closing = new Map<number, Closing>();
  readonly #dueAfter: ReturnType<typeof movedLongAgo<HeldPartition>>;
  #isForgotten = false;
  #saved = 0;

  constructor(options: AssignmentOptions) {
    this.#options = options;
    this.#dueAfter = movedLongAgo(options.now);
  }

  /** Returns the open partitions in order: followers that hold the same ones read the same pages. */
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

  /** Returns whether the follower was deleted: taking a partition again would recreate it. */
  isForgotten(): boolean {
    return this.#isForgotten;
  }

  /** Returns whether partitions still have to change hands, by the last view of the other workers. */
  moves(): { readonly taking: boolean; readonly releasing: boolean } {
    const { workers, partitions } = this.#options;
    const mine = new Set(workers.assignment(partitions).mine);
    return {
      taking: [...mine].some((partition) => !this.#held.has(partition)),
      releasing: [...this.#held.keys()].some((partition) => !mine.has(partition)),
    };
  }

  /** Makes one step towards the assignment. An error of DynamoDB loses nothing: the next step continues. */
  async align(): Promise<void> {
    const { items, workers, partitions } = this.#options;
    this.#dropLost();
    if (this.#isForgotten) return;
    const { mine, others } = workers.assignment(partitions);
    const wanted = new Set(mine);
    for (const partition of wanted) if (this.#closing.delete(partition)) this.#held.get(partition)?.stay();
    await this.#close([...this.#held.values()].filter(({ partition }) => !wanted.has(partition)));
    await this.#releaseIdle();
    const lacking = mine.filter((partition) => !this.#held.has(partition));
    const seen = await items.readAll(lacking);
    await each(lacking, async (partition) => {
      const taken = await items.take(partition, workers.owner, others, seen);
      if (!taken) return;
      const held = new HeldPartition(items, partition, taken, partitions, await items.readCheckpoints(partition));
      this.#held.set(partition, held);
      this.#report('partition_taken', held);
    });
  }

  /**
   * Writes the partitions that were first seen here to have moved so long ago: not all at once, which would be felt.
   * Partitions that were taken or rewound are dropped, or go on from the new offsets.
   */
  async commit(afterMs: number): Promise<void> {
    await each(this.#dueAfter([...this.#held.values()], afterMs), async (partition) => {
      const { generation } = partition.tenure();
      await partition.commit();
      if (partition.tenure().generation !== generation) this.#report('partition_rewound', partition);
    });
  }

  /** Writes the checkpoints of the next `count` partitions in turn. */
  async saveCheckpoints(count: number): Promise<void> {
    const all = [...this.#held.values()];
    const start = this.#saved % Math.max(1, all.length);
    const next = [...all.slice(start), ...all.slice(0, start)].slice(0, count);
    this.#saved += next.length;
    await each(next, (partition) => partition.saveCheckpoints());
  }

  /** Checks each partition after a rewind, or after others took this worker for dead. */
  async reload(): Promise<void> {
    await each([...this.#held.values()], async (partition) => {
      if ((await partition.reload()) === 'rewound') this.#report('partition_rewound', partition);
    });
  }

  /** Gives up everything, after the pages under way. */
  async releaseAll(wait: () => Promise<void>): Promise<void> {
    while (this.#held.size > 0) {
      await this.#close([...this.#held.values()]);
      await this.#releaseIdle();
      if (this.#closing.size > 0) await wait();
    }
  }

  /** Lets partitions go once no page of theirs is under way. A hanging handler keeps none: commits are fenced. */
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
      // No other worker can take it either: it is followed until the table is back.
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

interface Moving {
  hasMoved(): boolean;
}

/**
 * Returns partitions that moved so long ago, counted from the call that first saw it. One that moves all the time is
 * written at that pace, however often this is called. Returned partitions count as written.
 */
export function movedLongAgo<T extends Moving>(now: () => number): (all: readonly T[], afterMs: number) => T[] {
  let since: ReadonlyMap<T, number> = new Map();
  return (all, afterMs) => {
    const time = now();
    const [due, left]: [T[], Map<T, number>] = [[], new Map()];
    for (const one of all) {
      if (!one.hasMoved()) continue;
      const at = since.get(one) ?? time;
      if (time - at >= afterMs) due.push(one);
      else left.set(one, at);
    }
    since = left;
    return due;
  };
}
