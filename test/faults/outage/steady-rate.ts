import { setTimeout as sleep } from 'node:timers/promises';
import type { Written } from '../load/ledger.ts';
import { startLoad } from '../load/start-load.ts';
import type { StoreAccess } from '../../support/store-access.ts';

export interface SteadyRate {
  /** Puts. */
  readonly perSecond: number;
  /** What was written to find out. */
  readonly written: Written;
}

const WRITERS = 16;
const SECONDS = 4;
/** Of what the machine can do: the rest is for the drain, for replication, and for whoever else uses it. */
const SHARE = 1 / 3;
/** Enough for a 99th percentile of every phase. */
const MOST = 240;
const LEAST = 10;

/** Finds the rate of a load that this machine bears with ease, and warms up servers and tables on the way. */
export async function findSteadyRate(access: StoreAccess, seed: string, signal: AbortSignal): Promise<SteadyRate> {
  using load = startLoad({ target: { kind: 'store', access }, writers: WRITERS, seed: `${seed} at full speed`, mix: { batchShare: 0, batchSize: 1, repeatShare: 0 }, run: 'steady-rate' });
  await load.ready;
  await sleep(SECONDS * 1000, undefined, { signal });
  const written = await load.stop();
  return { perSecond: Math.round(Math.min(MOST, Math.max(LEAST, (written.acked.length / SECONDS) * SHARE))), written };
}
