import type { ConsumerQueue, QueueRecord } from './queue-record.ts';

export interface HoldSettings {
  readonly holdSeconds: number;
  /** Between renewals. */
  readonly holdEveryMs: number;
}

export type Hold = ReturnType<typeof holdMessages>;

/**
 * Hides a batch's messages for a short time, and again while the batch is consumed. The queue's own visibility time must
 * be many times a batch's time, and a consumer that dies hard would leave its shards waiting for all of it.
 *
 * @param failed told when the queue cannot be reached: the messages then come back in their own time
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
  function then(change: () => Promise<void>): Promise<void> {
    last = last.then(change).catch(failed);
    return last;
  }
  async function hold(): Promise<void> {
    if (held.size > 0) await queue.setVisibility([...held], settings.holdSeconds);
  }
  void then(hold);
  const timer = setInterval(() => void then(hold), settings.holdEveryMs);
  return {
    /** Hides these for so many more seconds, and no longer. */
    release(released: readonly QueueRecord[], seconds: number): Promise<void> {
      for (const record of released) held.delete(record);
      return then(() => queue.setVisibility(released, seconds));
    },
    /** What was not released stays hidden for the hold's time at most: delete it in that time. */
    async end(): Promise<void> {
      clearInterval(timer);
      await last;
    },
  };
}
