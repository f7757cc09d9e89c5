import { percentile } from '../../support/percentile.ts';

export interface AnsweredPut {
  readonly dueAt: number;
  readonly endedAt: number;
  /** `stored`, `stored_before` or `buffered`. */
  readonly accepted: boolean;
}

export function goodput(puts: readonly AnsweredPut[], from: number, to: number): number {
  const accepted = puts.filter(({ accepted, endedAt }) => accepted && endedAt >= from && endedAt < to);
  return (accepted.length * 1000) / (to - from);
}

/** Returns the latency that 99 of 100 stay below, in milliseconds. A put that was not accepted counts as infinite. */
export function latencyP99(puts: readonly AnsweredPut[]): number {
  const waits = puts.map(({ accepted, dueAt, endedAt }) => (accepted ? endedAt - dueAt : Number.POSITIVE_INFINITY));
  return percentile(waits, 0.99);
}

/** The latency must stay low for this long. */
const CALM_MS = 3000;
const STEP_MS = 250;

/** Returns the seconds after `from` until the p99 was under a limit for three seconds; undefined if it never was. */
export function secondsUntilCalm(
  puts: readonly AnsweredPut[],
  limitMs: number,
  from: number,
  to: number,
): number | undefined {
  for (let start = from; start + CALM_MS <= to; start += STEP_MS) {
    const due = puts.filter(({ dueAt }) => dueAt >= start && dueAt < start + CALM_MS);
    if (due.length > 0 && latencyP99(due) < limitMs) return (start - from) / 1000;
  }
  return undefined;
}
