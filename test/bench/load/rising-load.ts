import { setTimeout as sleep } from 'node:timers/promises';
import { closedLoop, openLoop } from '../../support/pace.ts';
import { percentile } from '../../support/percentile.ts';
import { isBorne, type AtRate } from './knee.ts';

/** Sends one request. Returns whether it was answered as wanted; throws if that makes a measurement worthless. */
export type Send = () => Promise<boolean>;

export interface RisingLoadOptions {
  /** Rising shares of the peak. @default SHARES */
  readonly shares?: readonly number[];
  readonly signal: AbortSignal;
  /** Runs before each rate, for work left by the rate before. */
  readonly between?: () => Promise<void>;
  /** Returns, after each rate, how many requests have set off work not begun. @default no work is set off */
  readonly behind?: () => Promise<number>;
  readonly seen: (rate: AtRate) => void;
}

interface RisingLoad {
  /** Callers that wait for each answer before their next request. */
  readonly closed: Pick<AtRate, 'p50' | 'p99' | 'p999'> & { readonly callers: number; readonly perSecond: number };
  readonly rates: readonly AtRate[];
}

/** Callers with one request under way each, to find the peak. */
const CALLERS = 32;
/** The time until code is compiled, in other processes as well. */
const WARM_MS = 8000;
const PEAK_MS = 5000;
/** Shares above 1 as well: callers who wait for each answer may request less than could be answered. */
const SHARES = [0.1, 0.25, 0.5, 0.7, 0.85, 1, 1.2, 1.5, 2];
/** Requests not answered this long after the last was due count as not answered. */
const PATIENCE_MS = 10_000;
const POLL_MS = 20;
/** The requests wanted for a p99.9: with fewer it is the maximum. */
const WANTED_REQUESTS = 1000;
/** How long each rate is offered: longer at low rates. */
const SPAN_MS = { least: 6000, most: 15_000 };
/** The number of rates in a row that are not borne, after which a higher one shows no more. */
const BEYOND = 2;

/**
 * Finds the peak rate, then offers shares of it at fixed times, whether or not earlier requests have ended. Latency
 * counts from when each was due: requests delayed by a slow one count, unlike those of callers who wait for answers.
 * Ends once rates are clearly beyond what is borne.
 *
 * The loop is our own. The load generator autocannon 9 sends the requests of each second at its start, in a burst, and
 * corrects times as if each connection sent one a millisecond. Of 64 requests a second, each answered after 100 ms or
 * more, it says that half took 56 ms at most.
 */
export async function risingLoad(
  send: Send,
  { shares = SHARES, signal, between = () => Promise.resolve(), behind, seen }: RisingLoadOptions,
): Promise<RisingLoad> {
  await closedLoad(send, WARM_MS, signal);
  const closed = await closedLoad(send, PEAK_MS, signal);
  const rates = await untilBeyond(shares, async (share) => {
    await between();
    const offered = closed.perSecond * share;
    const milliseconds = Math.min(SPAN_MS.most, Math.max(SPAN_MS.least, (WANTED_REQUESTS * 1000) / offered));
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

async function closedLoad(send: Send, milliseconds: number, signal: AbortSignal): Promise<RisingLoad['closed']> {
  const times: number[] = [];
  const start = performance.now();
  await closedLoop({
    clients: CALLERS,
    milliseconds,
    async send() {
      signal.throwIfAborted();
      const begun = performance.now();
      if (await send()) times.push(performance.now() - begun);
    },
  });
  return { callers: CALLERS, perSecond: (times.length * 1000) / (performance.now() - start), ...percentiles(times) };
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
  while (counted.ended < counted.requests && performance.now() < deadline) await sleep(POLL_MS, undefined, { signal });
  signal.throwIfAborted();
  if (broken.length > 0) throw broken[0];
  const { requests, ended } = counted;
  return { offered, ...summed(answers, milliseconds, counted.failed + requests - ended), requests };
}

/** A request that was answered as wanted. */
export interface Answered {
  /** The latency since it was due. */
  readonly took: number;
  /** The time since the first was due. */
  readonly at: number;
}

/** @param failed how many were refused or not answered */
export function summed(
  answers: readonly Answered[],
  milliseconds: number,
  failed: number,
): Pick<AtRate, 'achieved' | 'p50' | 'p99' | 'p999' | 'failed'> {
  const never = Array.from({ length: failed }, () => Number.POSITIVE_INFINITY);
  const times = answers.map(({ took }) => took);
  // The first answer trails the first request by as much as the last answer trails the last request.
  const later = times.length === 0 ? 0 : percentile(times, 0.5);
  const meanwhile = answers.filter(({ at }) => at >= later && at < later + milliseconds).length;
  return { achieved: (meanwhile * 1000) / milliseconds, ...percentiles([...times, ...never]), failed };
}

function percentiles(times: readonly number[]): Pick<AtRate, 'p50' | 'p99' | 'p999'> {
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), p999: percentile(times, 0.999) };
}
