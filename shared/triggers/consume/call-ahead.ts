import type { TriggerMessage } from '../state/message.ts';
import type { CallEnd } from './call-function.ts';
import type { QueueRecord } from './queue-record.ts';

export interface Callable {
  readonly record: QueueRecord;
  readonly message: TriggerMessage;
}

interface AheadOptions {
  readonly atOnce: number;
  readonly call: (message: TriggerMessage) => Promise<CallEnd>;
  /** Asked when it is the call's turn. Never rejects. */
  readonly mayCall: (callable: Callable) => Promise<boolean>;
}

export type AheadCalls = ReturnType<typeof aheadCalls>;

interface Waiting extends Callable {
  readonly resolve: (end: CallEnd | undefined) => void;
}

export function aheadCalls({ atOnce, call, mayCall }: AheadOptions) {
  const ends = new Map<QueueRecord, Promise<CallEnd | undefined>>();
  const waiting: Waiting[] = [];
  /** Rows with a call under way, and rows of which one failed, or was not called. */
  const [busy, ended] = [new Set<string>(), new Set<string>()];
  let lines = 0;

  function take(): Waiting | undefined {
    const at = waiting.findIndex(({ message }) => !busy.has(message.row_key));
    return at < 0 ? undefined : waiting.splice(at, 1)[0];
  }

  async function work(first: Waiting): Promise<void> {
    lines += 1;
    for (let next: Waiting | undefined = first; next; next = take()) {
      const { row_key } = next.message;
      busy.add(row_key);
      const end = !ended.has(row_key) && (await mayCall(next)) ? await call(next.message) : undefined;
      if (end?.failure !== null) ended.add(row_key);
      busy.delete(row_key);
      next.resolve(end);
    }
    lines -= 1;
  }

  function go(): void {
    while (lines < atOnce) {
      const next = take();
      if (!next) return;
      void work(next).then(go);
    }
  }

  return {
    /** Calls for these, in order, as soon as there may be another call; never twice for one. */
    begin(callable: readonly Callable[]): void {
      for (const one of callable) {
        if (ends.has(one.record)) continue;
        const end = new Promise<CallEnd | undefined>((resolve) => void waiting.push({ ...one, resolve }));
        ends.set(one.record, end);
      }
      go();
    },
    /** Resolves with how a call ended, undefined if there was none. Never rejects. */
    endOf: async (record: QueueRecord): Promise<CallEnd | undefined> => ends.get(record),
    async idle(): Promise<void> {
      await Promise.all(ends.values());
    },
  };
}
