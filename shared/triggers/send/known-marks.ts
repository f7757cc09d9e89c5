import type { ShardOffset } from '../../follow/offsets.ts';
import { unread } from '../../follow/start-offsets.ts';
import type { ConsumedMark } from '../state/consumed-marks.ts';
import { sharedPoll, type TailWork } from './tail-work.ts';

export type KnownMarks = ReturnType<typeof knownMarks>;

interface Known {
  readonly mark: ConsumedMark;
  /** By `performance.now()`. */
  readonly askedAt: number;
}

interface FollowedLocation {
  readonly offset: ShardOffset;
  readonly generation: number;
}

/** Reads marks as they are needed, several at once. */
export function knownMarks({ store, settings, report }: Pick<TailWork, 'store' | 'settings' | 'report'>) {
  const known = new Map<number, Known>();
  const seen = new Map<number, { readonly generation: number; readonly at: number }>();
  const wanted = new Map<number, FollowedLocation>();
  const offsets = new Map<number, ShardOffset>();
  let notBefore = Number.NEGATIVE_INFINITY;

  async function poll(): Promise<void> {
    const asked = new Map(wanted);
    wanted.clear();
    const askedAt = performance.now();
    const found = await store.consumed.read([...asked.keys()]);
    const odd = [...asked].filter(([shard, location]) => fitted(found.get(shard), location)).map(([shard]) => shard);
    const changed =
      odd.length === 0 ? found : await store.consumed.change(odd, (shard, mark) => fitted(mark, asked.get(shard)));
    for (const shard of asked.keys()) {
      // A change returns its whole page, with shards whose offsets were not checked.
      const mark = changed.get(shard) ?? found.get(shard);
      if (mark) known.set(shard, { mark, askedAt });
    }
  }

  const joined = sharedPoll({ report }, 'looking how far its consumers are', async () => {
    // Shards asked for in the same turn are read in one request.
    await Promise.resolve();
    // After a failure.
    notBefore = performance.now() + settings.pollMs;
    await poll();
    notBefore = Number.NEGATIVE_INFINITY;
  });

  function want(shard: number, offset: ShardOffset): void {
    wanted.set(shard, { offset, generation: seen.get(shard)?.generation ?? 0 });
    if (performance.now() >= notBefore) void joined();
  }

  return {
    /** Whether a shard has a mark to resend from; otherwise, or after a cut, makes one at this offset. */
    has(shard: number, offset: ShardOffset): boolean {
      if (offset.added_id < (offsets.get(shard)?.added_id ?? 0)) known.delete(shard);
      offsets.set(shard, offset);
      if (known.has(shard)) return true;
      want(shard, offset);
      return false;
    },
    /**
     * Returns up to where cells are replays in this generation; undefined until the mark was read after the generation
     * was.
     */
    replayedTo(shard: number, generation: number): number | undefined {
      const found = known.get(shard);
      // The mark of a new shard comes with the next read.
      if (generation === 0) return found && 0;
      const before = seen.get(shard);
      const at = before?.generation === generation ? before.at : performance.now();
      seen.set(shard, { generation, at });
      if (found && found.askedAt > at) return found.mark.replayed_to;
      want(shard, offsets.get(shard) ?? unread(0));
      return undefined;
    },
  };
}

/**
 * Returns a mark that fits the location of its shard, undefined if it already does. The mark is not ahead of it, and of
 * its generation: messages sent before a cut name added ids that other cells have by now. The fingerprint lets a resend
 * find a later cut.
 */
function fitted(mark: ConsumedMark | undefined, location: FollowedLocation | undefined): ConsumedMark | undefined {
  if (!location) return undefined;
  const {
    generation,
    offset: { added_id, fingerprint },
  } = location;
  if (!mark) return { generation, added_id, fingerprint, replayed_to: 0 };
  if (mark.added_id <= added_id && mark.generation >= generation) return undefined;
  return {
    ...mark,
    generation: Math.max(mark.generation, generation),
    ...(mark.added_id > added_id && { added_id, fingerprint }),
  };
}
