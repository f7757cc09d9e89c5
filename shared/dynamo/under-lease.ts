import { pauseFor } from '../pause-for.ts';
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
   * Nobody else may work before all of it is done: a successor that asks waits for it, and the lease is renewed until
   * then. @default false: it ends for a successor, and what then takes long, or hangs, keeps it waiting no longer than
   * the lease lasts
   */
  readonly isExclusive?: boolean;
}

/** What became of work that had its lease. */
interface LeasedEnd<T> {
  readonly result: T;
  /** It was ended since a successor asks for the lease, and goes on with it. */
  readonly isWanted: boolean;
}

/**
 * Works under a lease: takes it, says that its holder is alive while the work goes on, and gives it up, whatever the
 * work came to. One that cannot be given up is taken by others once it has been silent for long enough. `work`: gets a
 * signal that says when to end: once the lease is lost or wanted, or with the signal given. Returns undefined where the
 * lease was not taken. Throws what the work throws.
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
  const renewing = keepRenewing(leased, lease, isExclusive ? done.signal : signal, (state) => {
    if (signal.aborted || state === 'held' || (state === 'wanted' && isExclusive)) return;
    isWanted = state === 'wanted';
    end();
  });
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

type Heard = (state: 'held' | 'wanted' | 'lost') => void;

async function keepRenewing(
  { leases, renewMs }: LeasedWork,
  lease: Lease,
  until: AbortSignal,
  heard: Heard,
): Promise<void> {
  while (!until.aborted) {
    await pauseFor(renewMs, until);
    if (until.aborted) return;
    // Not waited for: one that hangs would keep the next from being sent in time. A table that cannot be reached takes
    // the lease from nobody.
    leases.renew(lease).then(heard, () => undefined);
  }
}
