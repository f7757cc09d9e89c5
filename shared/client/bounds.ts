import type { BoundedConnection } from './calls.ts';
import type { CallLimits } from './options.ts';
import { onAbort } from '../on-abort.ts';
import { pauseFor } from '../pause-for.ts';
import { pauseMs } from './pause.ts';
import type { RetryBudget } from './retry-budget.ts';

export interface Bounds {
  readonly signal: AbortSignal | undefined;
  /** The end by `performance.now()`; undefined without a deadline. */
  readonly end: number | undefined;
  readonly timeoutMs: number;
}

/** Returns the bounds of a call: its own deadline or the client's; the signals of both end it. */
export function boundsOf(client: CallLimits & Pick<Bounds, 'timeoutMs'>, call: CallLimits = {}): Bounds {
  const { signal, deadlineMs } = both(client, call);
  return {
    signal,
    end: deadlineMs === undefined ? undefined : performance.now() + deadlineMs,
    timeoutMs: client.timeoutMs,
  };
}

export function boundedBy(send: BoundedConnection, outer: CallLimits): BoundedConnection {
  return (call, inner) => send(call, inner === undefined ? outer : both(outer, inner));
}

function both(outer: CallLimits, inner: CallLimits): CallLimits {
  const signals = [outer.signal, inner.signal].filter((one) => one !== undefined);
  return {
    signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0],
    deadlineMs: inner.deadlineMs ?? outer.deadlineMs,
  };
}

export function leftMs({ end, timeoutMs }: Bounds): number {
  return end === undefined ? timeoutMs : Math.max(0, Math.min(timeoutMs, Math.ceil(end - performance.now())));
}

export function isOver({ signal, end }: Bounds): boolean {
  return signal?.aborted === true || (end !== undefined && performance.now() >= end);
}

type Limits = Partial<Pick<Bounds, 'signal' | 'end'>>;

/** Awaits shared work within a call's limits: then rejects with the reason, while the work continues. */
export function within<Value>(limits: Limits, shared: Promise<Value>): Promise<Value> {
  // A call without limits needs no further promise.
  return limits.signal === undefined && limits.end === undefined ? shared : untilOver(limits, shared);
}

async function untilOver<Value>({ signal, end }: Limits, shared: Promise<Value>): Promise<Value> {
  let forget = (): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    const giveUp = (): void => reject(signal?.reason ?? new Error('the time of the call is up'));
    if (end !== undefined) timer = setTimeout(giveUp, end - performance.now());
    if (signal?.aborted === true) giveUp();
    forget = onAbort(signal, giveUp);
  });
  try {
    return await Promise.race([shared, over]);
  } finally {
    clearTimeout(timer);
    forget();
  }
}

/** Waits until the next attempt; false if there is none. Without budget, a call with a deadline waits for more. */
export async function isTurn(
  budget: RetryBudget,
  bounds: Bounds,
  attempt: number,
  retryAfter: string | null,
): Promise<boolean> {
  const { signal, end } = bounds;
  for (;;) {
    const pause = pauseMs(attempt, retryAfter);
    if (signal?.aborted === true || (end !== undefined && performance.now() + pause >= end)) return false;
    const isMine = budget.spend();
    if (!isMine && end === undefined) return false;
    await pauseFor(pause, signal);
    if (isMine) return !isOver(bounds);
  }
}
