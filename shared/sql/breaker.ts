import { circuitBreaker, CircuitState, ExponentialBackoff, handleWhen, type IBreaker } from 'cockatiel';
import { setTimeout as sleep } from 'node:timers/promises';
import { SqlError } from './client.ts';

export interface BreakerSettings {
  /** Failures in a row that open the circuit; a time limit that passed opens it by itself. @default 3 */
  readonly failures: number;
  /** A statement that takes longer counts as a failure, though its answer is used: slow is down. @default 3000 */
  readonly slowMs: number;
  /** All connections being in use counts as a failure once nothing was answered for so long. @default 1000 */
  readonly silentMs: number;
  /** Between the opening and the first sign of life that is asked for; later ones follow at growing, random distances. @default 500 */
  readonly probeAfterMs: number;
  /** The greatest such distance. @default 5000 */
  readonly probeMostMs: number;
  /** How long a sign of life may take. @default 500 */
  readonly probeTimeoutMs: number;
}

export const BREAKER_SETTINGS: BreakerSettings = { failures: 3, slowMs: 3000, silentMs: 1000, probeAfterMs: 500, probeMostMs: 5000, probeTimeoutMs: 500 };

export type CircuitName = 'closed' | 'open';

export interface Breaker {
  /** Runs a statement, or fails at once with `unreachable` while the circuit is open. */
  run<T>(statement: () => Promise<T>): Promise<T>;
  /** Opens the circuit, as somebody else's does who found the same. */
  trip(why: string): void;
  state(): CircuitName;
}

export interface BreakerOptions {
  /** What is behind it, for the error: "group-1's writer". */
  readonly name: string;
  /** Asks for a sign of life. */
  readonly probe: () => Promise<unknown>;
  readonly settings: BreakerSettings;
  /** The circuit opened for a reason of its own, not by `trip`. */
  readonly onTrip: () => void;
}

/** How often it is looked whether a sign of life is due. */
const TICK_MS = 100;
/** Who has not looked for so long was frozen. */
const FROZEN_MS = 1000;

/**
 * A circuit breaker round one role of one group. Nobody's statement is used to find out whether it is up again, and
 * nobody waits for that: while the circuit is open a small statement of its own asks, with a time limit of its own.
 *
 * An instance that was frozen while its circuit was open (Lambda freezes what has no request) finds the question
 * overdue; then, and only then, the first statement waits for its answer.
 */
export function breaker({ name, probe, settings, onTrip }: BreakerOptions): Breaker {
  const count = failureCount(settings.failures);
  const policy = circuitBreaker(handleWhen(isOutage), { halfOpenAfter: new ExponentialBackoff({ initialDelay: settings.probeAfterMs, maxDelay: settings.probeMostMs }), breaker: count });
  const { silentMs, slowMs } = settings;
  let closedAt = 0;
  let answeredAt = performance.now();
  /** By the wall clock: a monotonic one may stand still in an instance that is frozen. */
  let lookedAt = 0;
  let asking: Promise<void> | undefined;
  let isTold = false;
  let isAsking = false;

  policy.onReset(() => {
    closedAt = performance.now();
  });
  policy.onBreak(() => {
    lookedAt = Date.now();
    if (!isTold) onTrip();
    isTold = true;
    // It opens anew after each sign of life that did not come: one loop goes on asking.
    if (!isAsking) void keepAsking();
  });

  const isClosed = (): boolean => policy.state === CircuitState.Closed;

  async function keepAsking(): Promise<void> {
    isAsking = true;
    while (!isClosed()) {
      await sleep(TICK_MS, undefined, { ref: false });
      await ask();
    }
    isAsking = false;
    isTold = false;
  }

  /** Asks for a sign of life, unless it is not due yet. */
  function ask(): Promise<void> {
    lookedAt = Date.now();
    asking ??= policy
      .execute(() => within(settings.probeTimeoutMs, probe()))
      .then(() => undefined, () => undefined)
      .finally(() => {
        asking = undefined;
      });
    return asking;
  }

  /** Lets the policy take note of a failure, while it counts any. */
  async function fail(failure: SqlError, opens: boolean): Promise<void> {
    if (!isClosed()) return;
    if (opens) count.openNext();
    await policy.execute(() => Promise.reject(failure)).catch(() => undefined);
  }

  return {
    // Of a statement that succeeds, as nearly all do, the policy is not asked: it takes as long as much of the rest.
    async run(statement) {
      if (!isClosed() && Date.now() - lookedAt > FROZEN_MS) await ask();
      if (!isClosed()) throw new SqlError('unreachable', `the circuit of ${name} is open`);
      const begun = performance.now();
      try {
        const value = await statement();
        answeredAt = performance.now();
        if (answeredAt - begun <= slowMs) count.success(CircuitState.Closed);
        else await fail(new SqlError('unclear', 'slow'), false);
        return value;
      } catch (error) {
        // What began before the circuit last closed says nothing of how it is now.
        if (!(error instanceof SqlError) || begun < closedAt) throw error;
        const found = error.poolExhausted && performance.now() - answeredAt > silentMs ? silence(error) : error;
        if (isOutage(found)) await fail(found, found.timedOut);
        throw found;
      }
    },

    trip(why) {
      if (!isClosed()) return;
      isTold = true;
      void fail(new SqlError('unreachable', why), true);
    },

    state: () => (isClosed() ? 'closed' : 'open'),
  };
}

/** All connections are in use and none has been answered for a while: they hang, whatever time limits have yet to pass. */
function silence(cause: SqlError): SqlError {
  return new SqlError('unreachable', cause.message, { timedOut: true, cause });
}

/** Whether a failure speaks against the server; a refused statement, or one that met a lock, shows that it lives. */
function isOutage(error: unknown): boolean {
  return error instanceof SqlError && (error.failure === 'unclear' || error.failure === 'unreachable') && !error.poolExhausted;
}

/** Opens after so many failures in a row, or at the next one when it is told to. */
function failureCount(most: number): IBreaker & { openNext(): void } {
  let failures = 0;
  let opens = false;
  return {
    state: undefined,
    openNext: () => void (opens = true),
    // What succeeds meanwhile does not forgive the failure that opens.
    success: () => void (failures = 0),
    failure: () => {
      failures += 1;
      const isEnough = opens || failures >= most;
      if (isEnough) [failures, opens] = [0, false];
      return isEnough;
    },
  };
}

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const end = new AbortController();
  try {
    await Promise.race([work, sleep(milliseconds, undefined, { signal: end.signal, ref: false }).then(() => Promise.reject(new SqlError('unreachable', `no sign of life in ${milliseconds} ms`, { timedOut: true })))]);
  } finally {
    end.abort();
  }
}
