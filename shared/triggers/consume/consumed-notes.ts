import { isFurther, type ConsumedLocation } from '../state/consumed-marks.ts';
import { fingerprintOfMessage } from '../state/queue-message.ts';
import type { TriggerMessage } from '../state/message.ts';
import { TOLD_IN_TIME } from '../state/queue-limits.ts';
import type { TriggerStore } from '../state/trigger-store.ts';

export interface NoteSettings {
  /** How far the shards are is written down this often at most. */
  readonly consumedEveryMs: number;
  /** For how long messages may wait until their queue cannot be trusted any more. */
  readonly safeHaltMs: number;
}

/**
 * How far this process has come with each shard, written down now and then: what a lost queue would have to be sent
 * from.
 */
export interface ConsumedNotes {
  /** A message of a shard is done, and with it those before it. */
  note(message: TriggerMessage): void;
  /** Writes it down where that is due. Never fails. */
  keep(): Promise<void>;
  /** Writes it down now. Never fails. */
  flush(): Promise<void>;
}

/**
 * One write for each 64 shards, and not for each message: what was consumed since the last one is only sent once more
 * where a queue has lost its messages.
 *
 * @param failed is told when it cannot be written; it is written with the next
 */
export function consumedNotes(
  store: Pick<TriggerStore, 'consumed' | 'confirmSound'>,
  { consumedEveryMs, safeHaltMs }: NoteSettings,
  failed: (error: unknown) => void,
): ConsumedNotes {
  const noted = new Map<number, ConsumedLocation>();
  let keptAt = performance.now();
  let last: NodeJS.Timeout | undefined;
  let soundAt = Number.NEGATIVE_INFINITY;

  async function flush(): Promise<void> {
    if (noted.size === 0) return;
    const locations = new Map(noted);
    keptAt = performance.now();
    try {
      await store.consumed.raise(locations);
      if (keptAt - soundAt >= safeHaltMs / TOLD_IN_TIME) {
        await store.confirmSound();
        soundAt = keptAt;
      }
      for (const [shard, location] of locations) if (noted.get(shard) === location) noted.delete(shard);
    } catch (error) {
      failed(error);
    }
  }

  return {
    note(message) {
      const { shard, generation, added_id } = message;
      const location = { generation, added_id, fingerprint: fingerprintOfMessage(message) };
      if (isFurther(location, noted.get(shard))) noted.set(shard, location);
    },
    async keep() {
      if (noted.size === 0) return;
      if (performance.now() - keptAt >= consumedEveryMs) await flush();
      // What comes last is written down, too, where the process goes on without messages, as a frozen one does not.
      clearTimeout(last);
      last = setTimeout(() => void flush(), consumedEveryMs).unref();
    },
    flush,
  };
}
