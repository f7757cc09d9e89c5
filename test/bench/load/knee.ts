export interface AtRate {
  /** The share of the closed loop's peak. */
  readonly share: number;
  /** Requests due a second. */
  readonly offered: number;
  /** Requests answered as wanted a second, under that load. */
  readonly achieved: number;
  /** The latency since a request was due, in milliseconds; infinite for one that was refused or not answered. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly requests: number;
  readonly failed: number;
  /** The requests that had set off work not begun when the last was answered. @default no work is set off */
  readonly behind?: number;
}

/**
 * The limits: the p99 as a multiple of the lowest rate's, the answered share of requests, and the seconds of requests
 * whose work may be behind.
 */
export const BEARABLE = { times: 10, share: 0.95, behindSeconds: 0.5 } as const;

/** Returns whether a rate is borne. @param gentle the lowest rate */
export function isBorne({ offered, achieved, p99, behind = 0 }: AtRate, gentle: AtRate): boolean {
  return (
    achieved >= BEARABLE.share * offered &&
    p99 <= BEARABLE.times * gentle.p99 &&
    behind <= BEARABLE.behindSeconds * offered
  );
}

/** Returns the highest rate that is borne; undefined if there is none, or if the lowest was not answered. */
export function kneeOf(rates: readonly AtRate[]): AtRate | undefined {
  const [gentle, ...others] = rates.toSorted((one, other) => one.offered - other.offered);
  if (!gentle || !Number.isFinite(gentle.p99) || !isBorne(gentle, gentle)) return undefined;
  return others.findLast((rate) => isBorne(rate, gentle)) ?? gentle;
}
