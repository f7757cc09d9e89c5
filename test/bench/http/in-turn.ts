import { median, type Sides } from '../side-by-side.ts';

/** How long a call takes on either side, in milliseconds, at the median. */
interface Latencies {
  readonly ours: number;
  readonly theirs: number;
}

const WARM_CALLS = 40;
const CALLS = 250;
const MOST_MS = 4000;

/** One call of either side in turn, one at a time, so that what else the machine does falls on both alike. */
export async function inTurn(
  { ours, theirs }: Pick<Sides, 'ours' | 'theirs'>,
  signal: AbortSignal,
): Promise<Latencies> {
  const times: { readonly ours: number; readonly theirs: number }[] = [];
  const until = performance.now() + MOST_MS;
  for (let call = 0; call < WARM_CALLS + CALLS && performance.now() < until; call += 1) {
    signal.throwIfAborted();
    const begun = performance.now();
    await ours();
    const between = performance.now();
    await theirs();
    times.push({ ours: between - begun, theirs: performance.now() - between });
  }
  const counted = times.slice(Math.min(WARM_CALLS, times.length / 2));
  return { ours: median(counted.map((call) => call.ours)), theirs: median(counted.map((call) => call.theirs)) };
}
