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
  /** Up to which added id a shard may be sent that is sent up to `after`. Remembers that the shard is this worker's. */
  limitOf(shard: number, after: number): number;
  /** Those of this worker's shards that are not in order. */
  troubled(): readonly TroubledShard[];
  /** Looks now, or joins the look under way. Never fails. */
  look(): Promise<void>;
  /** Looks again and again until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Looks at a trigger's status, and at the items of those of this worker's shards that are not in order. While DynamoDB
 * is away what was last seen holds.
 */
export function watchTrigger({
  store,
  settings,
  report,
}: Pick<TailWork, 'store' | 'settings' | 'report'>): TriggerWatch {
  const asked = new Map<number, number>();
  const pastOld = new Map<number, { readonly at: string; readonly limit: number }>();
  let status: TriggerStatus | undefined;
  let troubled = new Set<number>();
  let shards = new Map<number, TroubledShard>();
  /** Troubled shards whose items were asked for, whatever came of it. */
  let looked = new Set<number>();
  let looking: Promise<void> | undefined;
  let failing = false;

  async function lookOnce(): Promise<void> {
    const at = performance.now();
    for (const [shard, when] of asked) if (at - when > MINE_MS) asked.delete(shard);
    status = await store.status();
    troubled = new Set(status.troubled);
    const mine = status.troubled.filter((shard) => asked.has(shard));
    try {
      shards = new Map((await store.shards(mine)).map((item) => [item.shard, item]));
    } finally {
      looked = new Set(mine);
    }
  }

  function look(): Promise<void> {
    looking ??= lookOnce()
      .then(() => {
        failing = false;
      })
      .catch((error: unknown) => {
        if (!failing) report({ kind: 'failed', what: 'looking at its state', error });
        failing = true;
      })
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  /**
   * A mark as old as this may be one of a consumer that died with an empty queue: some cells more let the next one set
   * it right.
   */
  function limitPastOld(
    shard: number,
    after: number,
    { at, limit }: { readonly at: string; readonly limit: number },
  ): number {
    const known = pastOld.get(shard);
    if (known?.at === at) return known.limit;
    pastOld.set(shard, { at, limit: Math.max(limit, after) + settings.pastOldMark });
    return pastOld.get(shard)?.limit ?? limit;
  }

  return {
    status: () => status,
    limitOf(shard, after) {
      asked.set(shard, performance.now());
      if (!troubled.has(shard)) return Number.POSITIVE_INFINITY;
      if (!looked.has(shard)) {
        void look();
        return 0;
      }
      const mark = shards.get(shard)?.mark;
      if (!mark) return Number.POSITIVE_INFINITY;
      const limit = mark.added_id + settings.pastMark;
      const age = Date.now() - Date.parse(mark.at);
      // One from times to come was made by another clock, which says nothing of its age.
      return age < settings.oldMarkMs && age > -CLOCKS_DIFFER_MS
        ? limit
        : limitPastOld(shard, after, { at: mark.at, limit });
    },
    troubled: () => [...shards.values()],
    look,
    async run(signal) {
      while (!signal.aborted) {
        await look();
        await pauseFor(settings.lookMs, signal);
      }
    },
  };
}
