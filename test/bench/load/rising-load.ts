import { setTimeout as sleep } from 'node:timers/promises';
import { closedLoop, openLoop } from '../../support/pace.ts';
import { percentile } from '../../support/percentile.ts';
import { isBorne, type AtRate } from './knee.ts';

/** One request. Returns whether it was answered as wanted; throws what makes a measurement worthless. */
export type Send = () => Promise<boolean>;

interface RisingLoadOptions {
  /** With one request under way each, to find the peak. @default 32 */
  readonly callers?: number;
  /** Until code is compiled, also in other processes. @default 8000 */
  readonly warmMs?: number;
  /** @default 5000 */
  readonly peakMs?: number;
  /** Of the peak, rising. @default SHARES */
  readonly shares?: readonly number[];
  /** How long each of them is offered: longer where few requests are. @default 6000 to 15000 */
  readonly spanMs?: { readonly least: number; readonly most: number };
  readonly signal: AbortSignal;
  /** Before each rate, where the one before left something to be done. */
  readonly between?: () => Promise<void>;
  /** Asked after each rate: how many requests have set off something that is not begun. @default nothing is set off */
  readonly behind?: () => Promise<number>;
  readonly seen?: (rate: AtRate) => void;
}

export interface RisingLoad {
  /** Callers that wait for each answer before they ask again. */
  readonly closed: Pick<AtRate, 'p50' | 'p99' | 'p999'> & { readonly callers: number; readonly perSecond: number };
  readonly rates: readonly AtRate[];
}

/** Beyond the whole, too: callers who wait for each answer may ask for less than could be answered. */
const SHARES = [0.1, 0.25, 0.5, 0.7, 0.85, 1, 1.2, 1.5, 2];
/** What is not answered by then after the last was due counts as not answered. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 20;
/** Of a p99.9: of fewer it is the longest. */
const WANTED_REQUESTS = 1000;
const SPAN_MS = { least: 6000, most: 15_000 };
/** After so many rates in a row that are not borne, a higher one says no more. */
const BEYOND = 2;

/**
 * Finds out how much is answered at most, then offers shares of that at fixed times, whether or not earlier requests
 * have ended, and counts from when each was due: a request that waits since another takes long is not left out, as it
 * is where callers wait for one answer before they ask for the next. Ends once rates are clearly beyond what is borne.
 *
 * With a loop of its own, and no load generator from elsewhere: autocannon 9 sends the requests of each second at its
 * start, in a burst, and corrects times as if each connection were to send one a millisecond. Of 64 requests a second,
 * each answered after 100 ms or more, it says that half took 56 ms at most.
 */
export async function risingLoad(
  send: Send,
  {
    callers = 32,
    warmMs = 8000,
    peakMs = 5000,
    shares = SHARES,
    spanMs: { least, most } = SPAN_MS,
    signal,
    between = () => Promise.resolve(),
    behind,
    seen = () => undefined,
  }: RisingLoadOptions,
): Promise<RisingLoad> {
  await closedLoad(send, callers, warmMs, signal);
  const closed = await closedLoad(send, callers, peakMs, signal);
  const rates = await untilBeyond(shares, async (share) => {
    await between();
    const offered = closed.perSecond * share;
    const milliseconds = Math.min(most, Math.max(least, (WANTED_REQUESTS * 1000) / offered));
    const answered = await atRate(send, { offered, milliseconds, signal });
    const rate = { share, ...answered, ...(behind && { behind: await behind() }) };
    seen(rate);
    return rate;
  });
  return { closed, rates };
}

/** Offers one share after the other, until two in a row are not borne. */
export async function untilBeyond(
  shares: readonly number[],
  offer: (share: number) => Promise<AtRate>,
): Promise<readonly AtRate[]> {
  const rates: AtRate[] = [];
  let beyond = 0;
  for (const share of shares) {
    const rate = await offer(share);
    rates.push(rate);
    beyond = isBorne(rate, rates[0] ?? rate) ? 0 : beyond + 1;
    if (beyond >= BEYOND) break;
  }
  return rates;
}

async function closedLoad(
  send: Send,
  callers: number,
  milliseconds: number,
  signal: AbortSignal,
): Promise<RisingLoad['closed']> {
  const times: number[] = [];
  const start = performance.now();
  await closedLoop({
    clients: callers,
    milliseconds,
    async send() {
      signal.throwIfAborted();
      const begun = performance.now();
      if (await send()) times.push(performance.now() - begun);
    },
  });
  return { callers, perSecond: (times.length * 1000) / (performance.now() - start), ...percentiles(times) };
}

interface OfferedRate {
  /** Requests a second. */
  readonly offered: number;
  readonly milliseconds: number;
  readonly signal: AbortSignal;
}

/** Offers one rate, and waits for the last answers. */
export async function atRate(
  send: Send,
  { offered, milliseconds, signal }: OfferedRate,
): Promise<Omit<AtRate, 'share'>> {
  const answers: Answered[] = [];
  const broken: unknown[] = [];
  const counted = { requests: 0, ended: 0, failed: 0 };
  const start = performance.now();
  const one = async (dueAt: number): Promise<void> => {
    counted.requests += 1;
    try {
      const isAnswered = await send();
      const now = performance.now();
      if (!isAnswered) counted.failed += 1;
      else answers.push({ took: now - dueAt, at: now - start });
    } catch (error) {
      broken.push(error);
    }
    counted.ended += 1;
  };
  await openLoop({
    perSecond: offered,
    milliseconds,
    send(dueAt) {
      if (!signal.aborted && broken.length === 0) void one(dueAt);
    },
  });
  const deadline = performance.now() + PATIENCE_MS;
  while (counted.ended < counted.requests && performance.now() < deadline) await sleep(LOOK_MS, undefined, { signal });
  signal.throwIfAborted();
  if (broken.length > 0) throw broken[0];
  const { requests, ended } = counted;
  return { offered, ...summed(answers, milliseconds, counted.failed + requests - ended), requests };
}

/** A request that was answered as wanted. */
export interface Answered {
  /** From when it was due. */
  readonly took: number;
  /** Since the first was due. */
  readonly at: number;
}

/** @param failed how many were refused, or not answered */
export function summed(
  answers: readonly Answered[],
  milliseconds: number,
  failed: number,
): Pick<AtRate, 'achieved' | 'p50' | 'p99' | 'p999' | 'failed'> {
  const never = Array.from({ length: failed }, () => Number.POSITIVE_INFINITY);
  const times = answers.map(({ took }) => took);
  // The first answers come as much later than the first requests as the last than the last.
  const later = times.length === 0 ? 0 : percentile(times, 0.5);
  const meanwhile = answers.filter(({ at }) => at >= later && at < later + milliseconds).length;
  return { achieved: (meanwhile * 1000) / milliseconds, ...percentiles([...times, ...never]), failed };
}

function percentiles(times: readonly number[]): Pick<AtRate, 'p50' | 'p99' | 'p999'> {
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), p999: percentile(times, 0.999) };
}
