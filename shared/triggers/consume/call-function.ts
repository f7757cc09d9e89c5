import type { TriggerMessage } from '../state/trigger-store.ts';
import type { TriggerFunction } from './trigger-function.ts';
import type { TriggerClients } from './trigger-clients.ts';
import type { QueueRecord } from './queue-record.ts';

interface FunctionCall {
  readonly fn: TriggerFunction;
  readonly client: TriggerClients;
  readonly message: TriggerMessage;
  readonly attempt: number;
  readonly timeoutMs: number;
}

/** The error that the function threw; null if it returned. */
export interface CallEnd {
  readonly failure: { readonly thrown: unknown } | null;
}

export async function endOfCall(call: FunctionCall): Promise<CallEnd> {
  try {
    await callFunction(call);
    return { failure: null };
  } catch (thrown) {
    return { failure: { thrown } };
  }
}

/**
 * Calls a function until its time limit. One that ignores its signal goes on, but its client sends nothing. One that
 * keeps
 * its process busy lets no timer fire: if it returns late, that counts as no answer.
 */
export async function callFunction({ fn, client, message, attempt, timeoutMs }: FunctionCall): Promise<void> {
  const time = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const error = new Error(`it did not answer within ${timeoutMs / 1000} s`);
  // It would show this place, not the function's.
  delete error.stack;
  const begun = performance.now();
  const timeUp = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(error);
      time.abort(error);
    }, timeoutMs);
  });
  try {
    const call = (async () => fn(message.row_key, message, client(time.signal), { signal: time.signal, attempt }))();
    await Promise.race([call, timeUp]);
    if (performance.now() - begun > timeoutMs) throw error;
  } finally {
    clearTimeout(timer);
  }
}

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
