import { setTimeout as sleep } from 'node:timers/promises';
import { DataApiException } from './exceptions.ts';
import { after } from './limits.ts';

/** How long a statement that was killed may take to end before the call is answered all the same. */
const KILLED_MS = 2000;

export interface TimedCall<T> {
  /** The work's own outcome, or `StatementTimeoutException`. */
  readonly answer: Promise<T>;
  /** Resolves when the work is over: later than the answer where it goes on after its timeout. */
  readonly ended: Promise<void>;
}

interface TimedCallOptions<T> {
  readonly limitMs: number;
  /** The server's id of the connection. */
  readonly threadId: number;
  /** Left out: the work goes on. */
  readonly cancel?: (() => Promise<void>) | undefined;
  /** The signal is aborted when the work is to begin no further statement. */
  readonly work: (signal: AbortSignal) => Promise<T>;
}

export function timedCall<T>({ limitMs, threadId, cancel, work }: TimedCallOptions<T>): TimedCall<T> {
  const cancelled = new AbortController();
  const working = work(cancelled.signal);
  const ended = working.then(
    () => undefined,
    () => undefined,
  );
  const answer = new Promise<T>((resolve, reject) => {
    const timer = after(limitMs, () => {
      const timeout = new DataApiException('StatementTimeoutException', 'Request timed out', {
        members: { dbConnectionId: threadId },
      });
      if (!cancel) return reject(timeout);
      cancelled.abort();
      // A server that cannot be asked to cancel is away; the statement then ends with its connection.
      const killed = cancel().catch(() => undefined);
      return void Promise.race([Promise.all([killed, ended]), sleep(KILLED_MS, undefined, { ref: false })]).then(() =>
        reject(timeout),
      );
    });
    working
      .then(
        (result) => {
          if (!cancelled.signal.aborted) resolve(result);
        },
        (error: unknown) => {
          if (!cancelled.signal.aborted) reject(error);
        },
      )
      .finally(() => clearTimeout(timer));
  });
  return { answer, ended };
}
