import type { TriggerMessage } from '../state/message.ts';
import type { TriggerFunction } from './trigger-function.ts';
import type { TriggeredClient } from './triggered-client.ts';

interface FunctionCall {
  readonly fn: TriggerFunction;
  readonly client: (signal: AbortSignal) => TriggeredClient;
  readonly message: TriggerMessage;
  readonly attempt: number;
  readonly timeoutMs: number;
}

/** What the function threw; null if it returned. */
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
 * Calls a function until its time limit. One that ignores its signal goes on, but its client sends nothing. One that keeps
 * its process busy lets no timer fire: if it returns late, that counts as no answer.
 */
export async function callFunction({ fn, client, message, attempt, timeoutMs }: FunctionCall): Promise<void> {
  const time = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const error = new Error(`it did not answer within ${timeoutMs / 1000} s`);
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

/** Returns the reason in one line of at most 500 characters. */
export function reasonOf(error: unknown): string {
  const text =
    error instanceof Error ? `${error.name === 'Error' ? '' : `${error.name}: `}${error.message}` : String(error);
  return text.length > 500 ? `${text.slice(0, 499)}…` : text;
}
