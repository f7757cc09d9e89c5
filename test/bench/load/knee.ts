export interface AtRate {
  /** Of the closed loop's peak. */
  readonly share: number;
  /** Requests due a second. */
  readonly offered: number;
  /** Answered a second, as wanted, while more came. */
  readonly achieved: number;
  /** From when a request was due, in milliseconds; one that was refused, or not answered, took for ever. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly requests: number;
  readonly failed: number;
  /** How many of them had set off something that was not begun when the last was answered. @default nothing is set off */
  readonly behind?: number;
}

/**
 * How much longer than at the lowest rate the slowest hundredth may take, how much has to be answered, and of how many
 * seconds may be behind what they set off.
 */
export const BEARABLE = { times: 10, share: 0.95, behindSeconds: 0.5 } as const;

/** Whether a rate is borne. @param gentle the lowest rate */
export function isBorne({ offered, achieved, p99, behind = 0 }: AtRate, gentle: AtRate): boolean {
  return (
    achieved >= BEARABLE.share * offered &&
    p99 <= BEARABLE.times * gentle.p99 &&
    behind <= BEARABLE.behindSeconds * offered
  );
}

/** The highest rate that is borne. Undefined where none is, or where the lowest of them was not answered. */
export function kneeOf(rates: readonly AtRate[]): AtRate | undefined {
  const [gentle, ...others] = rates.toSorted((one, other) => one.offered - other.offered);
  if (!gentle || !Number.isFinite(gentle.p99) || !isBorne(gentle, gentle)) return undefined;
  return others.findLast((rate) => isBorne(rate, gentle)) ?? gentle;
}
