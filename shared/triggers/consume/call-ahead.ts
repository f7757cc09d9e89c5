import type { TriggerMessage } from '../state/message.ts';
import type { CallEnd } from './call-function.ts';
import type { QueueRecord } from './queue-record.ts';

/** A message whose function may be called before those in front of it in its shard are done. */
export interface Callable {
  readonly record: QueueRecord;
  readonly message: TriggerMessage;
}

export interface AheadOptions {
  /** So many calls at a time, at most. */
  readonly atOnce: number;
  readonly call: (message: TriggerMessage) => Promise<CallEnd>;
  /** Whether this one is still to be called, when it is its turn. */
  readonly mayCall: (record: QueueRecord) => boolean;
}

/**
 * Calls the function for messages side by side: those of a row one after the other, none after one of its row that
 * failed. What became of them is to be looked at in the order of the log, as if each had been called in its turn.
 */
export interface AheadCalls {
  /** Calls for these, too, in order, as soon as there may be another call; never a second time for one. */
  begin(callable: readonly Callable[]): void;
  /** How the call of a message ended; undefined where there was none. Never rejects. */
  endOf(record: QueueRecord): Promise<CallEnd | undefined>;
  /** Resolves once all that were begun have ended. */
  idle(): Promise<void>;
}

export function aheadCalls({ atOnce, call, mayCall }: AheadOptions): AheadCalls {
  const ends = new Map<QueueRecord, Promise<CallEnd | undefined>>();
  const lastOfRow = new Map<string, Promise<CallEnd | undefined>>();
  const waiting: (() => Promise<void>)[] = [];
  let lines = 0;

  async function work(): Promise<void> {
    lines += 1;
    for (let next = waiting.shift(); next; next = waiting.shift()) await next();
    lines -= 1;
  }

  return {
    begin(callable) {
      for (const { record, message } of callable) {
        if (ends.has(record)) continue;
        const { promise, resolve } = Promise.withResolvers<CallEnd | undefined>();
        const before = lastOfRow.get(message.row_key);
        ends.set(record, promise);
        lastOfRow.set(message.row_key, promise);
        waiting.push(async () => {
          const isNext = before === undefined || (await before)?.failure === null;
          resolve(isNext && mayCall(record) ? await call(message) : undefined);
        });
      }
      while (lines < atOnce && waiting.length > 0) void work();
    },
    endOf: async (record) => ends.get(record),
    async idle() {
      await Promise.all(ends.values());
    },
  };
}
