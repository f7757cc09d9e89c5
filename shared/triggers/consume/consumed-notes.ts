import { isFurther, type ConsumedLocation } from '../state/consumed-marks.ts';
import { fingerprintOfMessage } from '../state/queue-message.ts';
import type { TriggerMessage, TriggerStatus } from '../state/trigger-store.ts';
import { isUnsound, SOUND_EVERY_MS } from '../state/queue-limits.ts';
import type { TriggerStore } from '../state/dynamo-trigger-store.ts';
import type { Known } from '../../known.ts';

export type ConsumedNotes = ReturnType<typeof consumedNotes>;

/** @param failed told of each failure; the next write repeats it */
export function consumedNotes(
  store: Pick<TriggerStore, 'consumed' | 'confirmSound'>,
  status: Pick<Known<TriggerStatus>, 'read'>,
  { consumedEveryMs }: { readonly consumedEveryMs: number },
  failed: (error: unknown) => void,
) {
  const noted = new Map<number, ConsumedLocation>();
  let keptAt = Number.NEGATIVE_INFINITY;
  let last: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    if (noted.size === 0) return;
    const locations = new Map(noted);
    keptAt = performance.now();
    try {
      await store.consumed.raise(locations);
      if (isUnsound(await status.read(), SOUND_EVERY_MS)) await store.confirmSound();
      for (const [shard, location] of locations) if (noted.get(shard) === location) noted.delete(shard);
    } catch (error) {
      failed(error);
    }
  }

  return {
    /** Notes that a message is done, and with it those before it in its shard. */
    note(message: TriggerMessage): void {
      const { shard, generation, added_id } = message;
      const location = { generation, added_id, fingerprint: fingerprintOfMessage(message) };
      if (isFurther(location, noted.get(shard))) noted.set(shard, location);
    },
    /** Writes the notes if that is due. Never fails. */
    async keep(): Promise<void> {
      if (noted.size === 0) return;
      if (performance.now() - keptAt >= consumedEveryMs) await flush();
      // Writes the last notes if the process goes on without messages, as a frozen one does not.
      clearTimeout(last);
      last = setTimeout(() => void flush(), consumedEveryMs).unref();
    },
    /** Writes the notes now. Never fails. */
    flush,
  };
}
