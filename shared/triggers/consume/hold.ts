import type { ConsumerQueue, QueueRecord } from './queue-record.ts';

export interface HoldSettings {
  /** @default the time of a call and a minute: a function that keeps its process busy lets no timer renew it */
  readonly holdSeconds: number;
  /** Between renewals. */
  readonly holdEveryMs: number;
}

export type Hold = ReturnType<typeof holdMessages>;

/**
 * Hides a batch's messages for the time of a call, and again while the batch is consumed. The queue's own visibility
 * time must be many times a batch's time, and a consumer that dies hard would leave its shards waiting for all of it.
 * `failed`: told when the queue cannot be reached: the messages then come back in their own time.
 */
export function holdMessages(
  queue: ConsumerQueue,
  records: readonly QueueRecord[],
  settings: HoldSettings,
  failed: (error: unknown) => void,
) {
  const held = new Set(records);
  // One request after another, so that a hold never overtakes a release.
  let last = Promise.resolve();
  let heldAt = Number.NEGATIVE_INFINITY;
  function then(change: () => Promise<void>): Promise<void> {
    last = last.then(change).catch(failed);
    return last;
  }
  function hold(): Promise<void> {
    heldAt = performance.now();
    return then(async () => {
      if (held.size > 0) await queue.setVisibility([...held], settings.holdSeconds);
    });
  }
  void hold();
  const timer = setInterval(() => void hold(), settings.holdEveryMs);
  return {
    /** Hides them again if that is overdue, since a call kept the timer from it. */
    async renew(): Promise<void> {
      if (performance.now() - heldAt >= settings.holdEveryMs) await hold();
    },
    /** Hides these for so many more seconds, and no longer. */
    release(released: readonly QueueRecord[], seconds: number): Promise<void> {
      for (const record of released) held.delete(record);
      return then(() => queue.setVisibility(released, seconds));
    },
    /** Ends the hold. Messages that were not released stay hidden for at most its time: delete them in that time. */
    async end(): Promise<void> {
      clearInterval(timer);
      await last;
    },
  };
}
