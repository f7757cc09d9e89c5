import { pauseFor } from './pause-for.ts';

/** Work that repeats, a bounded turn at a time. */
export interface Turns {
  /** Returns the milliseconds until the next turn; nothing: `everyMs`; `over`: there is none. */
  readonly turn: () => Promise<number | 'over' | void>;
  /** Milliseconds. */
  readonly everyMs: number;
  /** Called with each failure, and the number of failures in a row. An error that it throws ends the work. */
  readonly failed: (error: unknown, inARow: number) => void;
  /** After a failure; doubled with each in a row, up to the longest. @default `everyMs` each time */
  readonly pauses?: { readonly firstMs: number; readonly longestMs: number };
}

/** Runs turns until the work is over, or until the signal. Retries a failed turn after a pause. */
export async function repeat({ turn, everyMs, failed, pauses }: Turns, signal: AbortSignal): Promise<void> {
  const { firstMs, longestMs } = pauses ?? { firstMs: everyMs, longestMs: everyMs };
  let inARow = 0;
  while (!signal.aborted) {
    let pauseMs: number;
    try {
      const next = (await turn()) ?? everyMs;
      if (next === 'over') return;
      pauseMs = next;
      inARow = 0;
    } catch (error) {
      inARow += 1;
      failed(error, inARow);
      pauseMs = Math.min(longestMs, firstMs * 2 ** Math.min(inARow - 1, 30));
    }
    if (pauseMs > 0) await pauseFor(pauseMs, signal);
  }
}

/** Calls `failed` with the first of failures in a row. */
export function ofFirst(failed: (error: unknown) => void): Turns['failed'] {
  return (error, inARow) => {
    if (inARow === 1) failed(error);
  };
}
