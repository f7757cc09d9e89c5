import { pauseFor } from '../../pause-for.ts';
import { CLOCKS_DIFFER_MS } from '../state/queue-limits.ts';
import type { TriggerStatus, TroubledShard } from '../state/trigger-store.ts';
import type { TailWork } from './tail-work.ts';

/** A shard that nobody asked about for so long is not this worker's any more. */
const MINE_MS = 5000;

/** What is known of a trigger's state. Answers at once, by what was last seen: nothing here waits for DynamoDB. */
export interface TriggerWatch {
  /** Undefined until it could be read for the first time. */
  status(): TriggerStatus | undefined;
  /**
   * Where a shard is sent to no further: a cell may be sent where the one that was sent before it lies below. Remembers
   * that the shard is this worker's.
   *
   * @param after up to which added id it is sent
   */
  limitOf(shard: number, after: number): number;
  /** Those of this worker's shards that are not in order. */
  troubled(): readonly TroubledShard[];
  /** Looks now, or joins the look under way. Never fails. */
  look(): Promise<void>;
  /** Looks again and again until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

type WatchWork = Pick<TailWork, 'store' | 'settings' | 'report'>;

/**
 * Looks at a trigger's status, and at the items of those of this worker's shards that are not in order. While DynamoDB
 * is away what was last seen holds.
 */
export function watchTrigger(work: WatchWork): TriggerWatch {
  return new LastSeen(work);
}

/** A trigger's state as it was last seen. */
class LastSeen implements TriggerWatch {
  readonly #work: WatchWork;
  /** When each shard was last asked about. */
  readonly #asked = new Map<number, number>();
  readonly #pastOld = new Map<number, { readonly at: string; readonly limit: number }>();
  #status: TriggerStatus | undefined;
  #troubled = new Set<number>();
  #shards = new Map<number, TroubledShard>();
  /** Troubled shards whose items were asked for, whatever came of it. */
  #looked = new Set<number>();
  #looking: Promise<void> | undefined;
  #failing = false;

  constructor(work: WatchWork) {
    this.#work = work;
  }

  status(): TriggerStatus | undefined {
    return this.#status;
  }

  limitOf(shard: number, after: number): number {
    this.#asked.set(shard, performance.now());
    if (!this.#troubled.has(shard)) return Number.POSITIVE_INFINITY;
    if (!this.#looked.has(shard)) {
      void this.look();
      return 0;
    }
    const mark = this.#shards.get(shard)?.mark;
    if (!mark) return Number.POSITIVE_INFINITY;
    const { pastMark, oldMarkMs } = this.#work.settings;
    const limit = mark.added_id + pastMark;
    const age = Date.now() - Date.parse(mark.at);
    // One from times to come was made by another clock, which says nothing of its age.
    return age < oldMarkMs && age > -CLOCKS_DIFFER_MS
      ? limit
      : this.#limitPastOld(shard, after, { at: mark.at, limit });
  }

  troubled(): readonly TroubledShard[] {
    return [...this.#shards.values()];
  }

  look(): Promise<void> {
    this.#looking ??= this.#lookOnce()
      .then(() => {
        this.#failing = false;
      })
      .catch((error: unknown) => {
        if (!this.#failing) this.#work.report({ kind: 'failed', what: 'looking at its state', error });
        this.#failing = true;
      })
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look();
      await pauseFor(this.#work.settings.lookMs, signal);
    }
  }

  async #lookOnce(): Promise<void> {
    const { store } = this.#work;
    const at = performance.now();
    for (const [shard, when] of this.#asked) if (at - when > MINE_MS) this.#asked.delete(shard);
    const status = await store.status();
    this.#status = status;
    this.#troubled = new Set(status.troubled);
    const mine = status.troubled.filter((shard) => this.#asked.has(shard));
    try {
      this.#shards = new Map((await store.shards(mine)).map((item) => [item.shard, item]));
    } finally {
      this.#looked = new Set(mine);
    }
  }

  /**
   * A mark as old as this may be one of a consumer that died with an empty queue: some cells more let the next one set
   * it right.
   */
  #limitPastOld(shard: number, after: number, { at, limit }: { readonly at: string; readonly limit: number }): number {
    const known = this.#pastOld.get(shard);
    if (known?.at === at) return known.limit;
    const further = Math.max(limit, after) + this.#work.settings.pastOldMark;
    this.#pastOld.set(shard, { at, limit: further });
    return further;
  }
}
