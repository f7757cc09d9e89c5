import { afterEachPause, pauseFor } from '../pause-for.ts';
import { untilEnd } from '../until-end.ts';
import type { Lease, Leases } from './lease.ts';

export interface LeasedWork {
  readonly leases: Leases;
  readonly name: string;
  /** Between renewals; far shorter than the leases last. */
  readonly renewMs: number;
  /** Ends the wait for the lease, and the work. */
  readonly signal: AbortSignal;
  /** Between tries to take a lease that another holds. @default it is tried once */
  readonly takeEveryMs?: number;
  /** Treats an unavailable table as a refused lease. @default false: throws what DynamoDB throws */
  readonly isPatient?: boolean;
  /**
   * Keeps other workers out until all work is done: a successor waits for it, and the lease is renewed until then.
   * @default false: the work ends for a successor; if it then takes long or hangs, the successor waits only until the
   * lease expires
   */
  readonly isExclusive?: boolean;
}

/** The result of work under its lease. */
interface LeasedEnd<T> {
  readonly result: T;
  /** The work ended because a successor asked for the lease. */
  readonly isWanted: boolean;
}

/**
 * Works under a lease: takes it, renews it during the work, and releases it however the work ends. Others take a lease
 * that could not be released once it was silent for long enough. `work`: gets a signal that says when to end: once the
 * lease is lost or wanted, or with the given signal. Returns undefined if the lease was not taken. Throws what the work
 * throws.
 */
export async function underLease<T>(
  leased: LeasedWork,
  work: (signal: AbortSignal, lease: Lease) => Promise<T>,
): Promise<LeasedEnd<T> | undefined> {
  const lease = await takeLease(leased);
  if (!lease) return undefined;
  const { leases, isExclusive = false } = leased;
  const { signal, end } = untilEnd(leased.signal);
  const done = new AbortController();
  let isWanted = false;
  const heard = (state: 'held' | 'wanted' | 'lost'): void => {
    if (signal.aborted || state === 'held' || (state === 'wanted' && isExclusive)) return;
    isWanted = state === 'wanted';
    end();
  };
  // Not awaited: a request that hangs would delay the next. A table that cannot be reached takes the lease from no
  // owner.
  const renew = (): void => void leases.renew(lease).then(heard, () => undefined);
  const renewing = afterEachPause(leased.renewMs, isExclusive ? done.signal : signal, renew);
  try {
    return { result: await work(signal, lease), isWanted };
  } finally {
    end();
    done.abort();
    await renewing;
    await leases.release(lease).catch(() => undefined);
  }
}

async function takeLease({
  leases,
  name,
  signal,
  takeEveryMs,
  isPatient = false,
}: LeasedWork): Promise<Lease | undefined> {
  while (!signal.aborted) {
    const lease = await leases.take(name).catch((error: unknown) => {
      if (!isPatient) throw error;
    });
    if (lease) return lease;
    if (takeEveryMs === undefined) return undefined;
    await pauseFor(takeEveryMs, signal);
  }
  return undefined;
}
