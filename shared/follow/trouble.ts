/** A shard that cannot be read or handled: it is tried alone, so that it costs no other shard anything. */
export interface Trouble {
  /** Consecutive ones. */
  readonly failures: number;
  /** Not tried before, by the local clock. */
  readonly until: number;
  readonly isTold: boolean;
}

/** A page may fail because of another shard: a shard is alone from the second time on. */
const ALONE_FROM = 2;
const LEAST_PAUSE_MS = 250;
const MOST_PAUSE_MS = 5000;

export function isAlone(trouble: Trouble | undefined): boolean {
  return trouble !== undefined && trouble.failures >= ALONE_FROM;
}

export function isWaiting(trouble: Trouble | undefined, now: number): boolean {
  return trouble !== undefined && now < trouble.until;
}

/** After a page failed, of which each shard may be the reason. */
export function afterFailedPage(before: Trouble | undefined, now: number): Trouble {
  return { failures: (before?.failures ?? 0) + 1, until: now, isTold: before?.isTold ?? false };
}

/** After a failure of its own: the pause grows from a quarter of a second to five. */
export function afterFailure(before: Trouble | undefined, now: number): Trouble {
  const failures = Math.max(before?.failures ?? 0, ALONE_FROM - 1) + 1;
  return {
    failures,
    until: now + Math.min(LEAST_PAUSE_MS * 2 ** (failures - ALONE_FROM), MOST_PAUSE_MS),
    isTold: true,
  };
}

/** After only the other role could read it: it is read alone from there for a while. */
export function elsewhere(before: Trouble | undefined, now: number): Trouble {
  return { failures: ALONE_FROM, until: now, isTold: before?.isTold ?? false };
}
