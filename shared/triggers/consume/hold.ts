import type { ConsumerQueue, QueueRecord } from './queue-record.ts';

export interface HoldSettings {
  /** Messages are hidden for so long at a time. */
  readonly holdSeconds: number;
  /** And again and again for as long, every so often. */
  readonly holdEveryMs: number;
}

/** The messages of a batch, hidden from others while it is consumed. */
export interface Hold {
  /** Hides these for so many seconds from now on, no longer. */
  release(records: readonly QueueRecord[], seconds: number): Promise<void>;
  /** What was not released stays hidden for at most the hold's time, in which it is to be deleted. */
  end(): Promise<void>;
}

/**
 * Keeps a batch's messages hidden, for a short time at once, as long as it is consumed. The queue's own visibility time
 * has to be many times what a batch may take; a consumer that dies hard would leave its shards waiting for all of that.
 *
 * @param failed is told when the queue is not reached: the messages then come back when it pleases the queue
 */
export function holdMessages(
  queue: ConsumerQueue,
  records: readonly QueueRecord[],
  settings: HoldSettings,
  failed: (error: unknown) => void,
): Hold {
  const held = new Set(records);
  // One request after the other, so that a release is never overtaken by a hold.
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
    release(released, seconds) {
      for (const record of released) held.delete(record);
      return then(() => queue.setVisibility(released, seconds));
    },
    async end() {
      clearInterval(timer);
      await last;
    },
  };
}
