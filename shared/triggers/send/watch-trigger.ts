import { CLOCKS_DIFFER_MS } from '../state/queue-limits.ts';
import type { TriggerStatus, TroubledShard } from '../state/trigger-store.ts';
import { sharedPoll, type TailWork } from './tail-work.ts';

/** A shard not asked about for so long is not this worker's any more. */
const MINE_MS = 5000;

type WatchWork = Pick<TailWork, 'store' | 'settings' | 'report'>;

/** Watches a trigger's status and its troubled shards; answers from memory, even without DynamoDB. */
export class TriggerWatch {
  /** Polls now, or joins the poll under way. Never fails. */
  readonly poll: () => Promise<void>;
  readonly #work: WatchWork;
  readonly #asked = new Map<number, number>();
  readonly #pastOld = new Map<number, { readonly at: string; readonly limit: number }>();
  #status: TriggerStatus | undefined;
  #troubled = new Set<number>();
  #shards = new Map<number, TroubledShard>();
  /** Troubled shards whose items were asked for, successfully or not. */
  #polled = new Set<number>();

  constructor(work: WatchWork) {
    this.#work = work;
    this.poll = sharedPoll(work, 'looking at its state', () => this.#pollOnce());
  }

  /** Returns undefined until the first read. */
  status(): TriggerStatus | undefined {
    return this.#status;
  }

  /**
   * Returns up to where a shard is sent: its next cell may be sent if the one sent before lies below. Remembers that
   * the shard is this worker's. `after`: the added id up to which it is sent.
   */
  limitOf(shard: number, after: number): number {
    this.#asked.set(shard, performance.now());
    if (!this.#troubled.has(shard)) return Number.POSITIVE_INFINITY;
    if (!this.#polled.has(shard)) {
      void this.poll();
      return 0;
    }
    const mark = this.#shards.get(shard)?.mark;
    if (!mark) return Number.POSITIVE_INFINITY;
    const { pastMark, oldMarkMs } = this.#work.settings;
    const limit = mark.added_id + pastMark;
    const age = Date.now() - Date.parse(mark.at);
    // A mark from the future was made by another clock, which does not tell its age.
    return age < oldMarkMs && age > -CLOCKS_DIFFER_MS
      ? limit
      : this.#limitPastOld(shard, after, { at: mark.at, limit });
  }

  troubled(): readonly TroubledShard[] {
    return [...this.#shards.values()];
  }

  async #pollOnce(): Promise<void> {
    const { store } = this.#work;
    const at = performance.now();
    for (const [shard, when] of this.#asked) if (at - when > MINE_MS) this.#asked.delete(shard);
    const status = await store.status();
    this.#status = status;
    const troubled = await store.troubled(status);
    this.#troubled = new Set(troubled);
    const mine = troubled.filter((shard) => this.#asked.has(shard));
    try {
      this.#shards = new Map((await store.shards(mine)).map((item) => [item.shard, item]));
    } finally {
      this.#polled = new Set(mine);
    }
  }

  /** An old mark may be of a consumer that died with an empty queue: some more cells let the next one correct it. */
  #limitPastOld(shard: number, after: number, { at, limit }: { readonly at: string; readonly limit: number }): number {
    const known = this.#pastOld.get(shard);
    if (known?.at === at) return known.limit;
    const further = Math.max(limit, after) + this.#work.settings.pastOldMark;
    this.#pastOld.set(shard, { at, limit: further });
    return further;
  }
}

/** The depth of a queue, as a poll found it. */
interface FoundDepth {
  readonly messages: number;
  /** When the poll began, by `Date.now()`. */
  readonly at: number;
}

export type DepthWatch = ReturnType<typeof watchDepth>;

/** Watches how much a trigger's queue holds. While SQS is unavailable the last answer holds. */
export function watchDepth({ queues, deployed, settings }: Pick<TailWork, 'queues' | 'deployed' | 'settings'>) {
  let depth = 0;
  let sinceLastPoll = 0;
  let found: FoundDepth | undefined;
  return {
    /** By the last poll, and what this worker has sent since. */
    isFull: (): boolean => depth + sinceLastPoll >= settings.depthLimit,
    /** Undefined before the first poll, and if the last one failed. */
    found: (): FoundDepth | undefined => found,
    /** Counts messages that this worker sent. */
    add: (messages: number): void => void (sinceLastPoll += messages),
    async poll(): Promise<void> {
      const sent = sinceLastPoll;
      const at = Date.now();
      found = undefined;
      depth = await queues.depth(deployed.queueUrl);
      // The answer may or may not include messages that were sent while it was under way.
      sinceLastPoll -= sent;
      found = { messages: depth, at };
    },
  };
}
