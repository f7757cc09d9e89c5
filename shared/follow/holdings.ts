import type { FollowEvent } from './follower.ts';
import { heldPartition, type HeldPartition } from './held-partition.ts';
import type { OffsetItems } from './offset-items.ts';
import type { Workers } from './workers.ts';

export interface HoldingsOptions {
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

/** The partitions that a worker holds. */
export interface Holdings {
  /** Those whose shards may be worked on, in order: followers that hold the same ones read the same pages. */
  open(): HeldPartition[];
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
export function openHoldings({ items, workers, partitions, patienceMs, now, report }: HoldingsOptions): Holdings {
  const held = new Map<number, HeldPartition>();
  const closing = new Map<number, { readonly held: HeldPartition; readonly since: number }>();
  let forgotten = false;
  const dueAfter = movedLongAgo(now);
  let saved = 0;

  async function take(partition: number, others: readonly string[]): Promise<void> {
    const taken = await items.take(partition, workers.owner, others);
    if (!taken) return;
    held.set(partition, heldPartition(items, partition, taken, partitions, await items.readCheckpoints(partition)));
    report({ kind: 'partition_taken', partition });
  }

  /**
   * Stops new pages of some partitions; each goes once none is under way. Not of all at once: the others are followed
   * until it is their turn. A handler that hangs does not hold a partition for ever: its commits are fenced.
   */
  async function close(unwanted: readonly HeldPartition[]): Promise<void> {
    const next = unwanted
      .filter(({ partition }) => !closing.has(partition))
      .slice(0, Math.max(0, SIDE_BY_SIDE - closing.size));
    await each(next, async (partition) => {
      await partition.saveCheckpoints();
      partition.close();
      closing.set(partition.partition, { held: partition, since: now() });
    });
  }

  async function release(partition: HeldPartition): Promise<void> {
    try {
      await partition.release();
    } catch (error) {
      // Nobody else can take it either: it is followed on until the table is back.
      closing.delete(partition.partition);
      partition.stay();
      throw error;
    }
    held.delete(partition.partition);
    closing.delete(partition.partition);
    report({ kind: 'partition_released', partition: partition.partition });
  }

  const isDue = ({ held, since }: { readonly held: HeldPartition; readonly since: number }): boolean =>
    held.isIdle() || now() - since >= patienceMs;

  async function releaseIdle(): Promise<void> {
    await each([...closing.values()].filter(isDue), ({ held }) => release(held));
  }

  function dropLost(): void {
    for (const partition of held.values()) {
      if (!partition.isLost()) continue;
      forgotten ||= partition.isForgotten();
      held.delete(partition.partition);
      closing.delete(partition.partition);
      report({ kind: 'partition_lost', partition: partition.partition });
    }
  }

  return {
    open: (): HeldPartition[] =>
      [...held.values()]
        .filter((partition) => partition.isOpen())
        .sort((one, other) => one.partition - other.partition),
    count: () => held.size,
    isForgotten: () => forgotten,
    moves(): { readonly taking: boolean; readonly releasing: boolean } {
      const mine = new Set(workers.share(partitions).mine);
      return {
        taking: [...mine].some((partition) => !held.has(partition)),
        releasing: [...held.keys()].some((partition) => !mine.has(partition)),
      };
    },

    async align(): Promise<void> {
      dropLost();
      if (forgotten) return;
      const { mine, others } = workers.share(partitions);
      const wanted = new Set(mine);
      for (const partition of wanted) if (closing.delete(partition)) held.get(partition)?.stay();
      await close([...held.values()].filter(({ partition }) => !wanted.has(partition)));
      await releaseIdle();
      await each(
        mine.filter((partition) => !held.has(partition)),
        (partition) => take(partition, others),
      );
    },

    async commit(afterMs: number): Promise<void> {
      await each(dueAfter([...held.values()], afterMs), async (partition) => {
        const { generation } = partition.tenure();
        await partition.commit();
        if (partition.tenure().generation !== generation)
          report({ kind: 'partition_rewound', partition: partition.partition });
      });
    },

    async saveCheckpoints(count: number): Promise<void> {
      const all = [...held.values()];
      const next =
        all.length === 0
          ? []
          : Array.from(
              { length: Math.min(count, all.length) },
              (_, place) => all[(saved + place) % all.length] as HeldPartition,
            );
      saved += next.length;
      await each(next, (partition) => partition.saveCheckpoints());
    },

    async reload(): Promise<void> {
      await each([...held.values()], async (partition) => {
        if ((await partition.reload()) === 'rewound')
          report({ kind: 'partition_rewound', partition: partition.partition });
      });
    },

    async releaseAll(wait: () => Promise<void>): Promise<void> {
      while (held.size > 0) {
        await close([...held.values()]);
        await releaseIdle();
        if (closing.size > 0) await wait();
      }
    },
  };
}

/** Those whose offsets were first seen here to have moved so long ago. */
function movedLongAgo(now: () => number): (held: readonly HeldPartition[], afterMs: number) => HeldPartition[] {
  let since: ReadonlyMap<HeldPartition, number> = new Map();
  return (held, afterMs) => {
    since = new Map(
      held.filter((partition) => partition.hasMoved()).map((partition) => [partition, since.get(partition) ?? now()]),
    );
    return [...since].flatMap(([partition, at]) => (now() - at >= afterMs ? [partition] : []));
  };
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
