import { pauseFor } from '../../follow/pace.ts';
import { untilEnd } from '../../follow/until-end.ts';
import type { Lease, Leases } from '../../dynamo/lease.ts';

export interface LeasedWork {
  readonly leases: Leases;
  readonly name: string;
  /** Between renewals; far shorter than the leases last. */
  readonly renewMs: number;
  /** Ends it all. */
  readonly signal: AbortSignal;
}

/** Between tries to take a lease that another holds. */
const TAKE_PAUSE_MS = 300;

/**
 * Waits for a lease, works under it until the signal comes, a successor asks for it or it is lost, and gives it up.
 *
 * @param work gets a signal that says when to end
 * @returns `wanted` when a successor goes on with it
 */
export async function underLease(leased: LeasedWork, work: (signal: AbortSignal) => Promise<void>): Promise<'wanted' | 'ended'> {
  const lease = await takeLease(leased);
  if (!lease) return 'ended';
  const { signal, end } = untilEnd(leased.signal);
  let wanted = false;
  const renewing = (async () => {
    while (!signal.aborted) {
      await pauseFor(leased.renewMs, signal);
      if (signal.aborted) return;
      // A table that cannot be reached takes the lease from nobody: go on, and try again.
      const held = await leased.leases.renew(lease).catch(() => 'held' as const);
      wanted = held === 'wanted';
      if (held !== 'held') end();
    }
  })();
  try {
    await work(signal);
  } finally {
    end();
    await renewing;
    await leased.leases.release(lease).catch(() => undefined);
  }
  return wanted ? 'wanted' : 'ended';
}

async function takeLease({ leases, name, signal }: LeasedWork): Promise<Lease | undefined> {
  while (!signal.aborted) {
    const lease = await leases.take(name).catch(() => undefined);
    if (lease) return lease;
    await pauseFor(TAKE_PAUSE_MS, signal);
  }
  return undefined;
}
