/**
 * A shard that cannot be read, or whose cells cannot be handled: it is worked on alone, so that it costs no other shard
 * anything.
 */
export interface Trouble {
  /** In a row. */
  readonly failures: number;
  /** By the local clock: not tried before. */
  readonly until: number;
  readonly isTold: boolean;
}

/** Pages fail for reasons of their own, too: a shard is alone from the second time on. */
const ALONE_FROM = 2;
const LEAST_PAUSE_MS = 250;
/** What is mended is followed again so soon. */
const MOST_PAUSE_MS = 5000;

export function isAlone(trouble: Trouble | undefined): boolean {
  return trouble !== undefined && trouble.failures >= ALONE_FROM;
}

export function isWaiting(trouble: Trouble | undefined, now: number): boolean {
  return trouble !== undefined && now < trouble.until;
}

/** A page with this shard failed, among others of which each may be the reason. */
export function afterFailedPage(before: Trouble | undefined, now: number): Trouble {
  return { failures: (before?.failures ?? 0) + 1, until: now, isTold: before?.isTold ?? false };
}

/**
 * It failed itself, whatever became of others: tried again after a pause that grows from a quarter of a second to five.
 */
export function afterFailure(before: Trouble | undefined, now: number): Trouble {
  const failures = Math.max(before?.failures ?? 0, ALONE_FROM - 1) + 1;
  return {
    failures,
    until: now + Math.min(LEAST_PAUSE_MS * 2 ** (failures - ALONE_FROM), MOST_PAUSE_MS),
    isTold: true,
  };
}

/** Only another node could read it than the one that was asked first: it is read alone, from there for a while. */
export function elsewhere(before: Trouble | undefined, now: number): Trouble {
  return { failures: ALONE_FROM, until: now, isTold: before?.isTold ?? false };
}
