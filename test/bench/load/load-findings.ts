import { SchemalessError } from '../../../shared/errors.ts';
import type { BenchWorld, Measured } from '../bench.ts';
import { rowsOn } from '../rows.ts';
import { BEARABLE, kneeOf, type AtRate } from './knee.ts';
import { risingLoad, type RisingLoadOptions, type Send } from './rising-load.ts';

interface Offered extends Pick<BenchWorld, 'say'>, Omit<RisingLoadOptions, 'seen'> {
  readonly engine: string;
}

/**
 * Offers one kind of request at rising rates. Returns its rows, the lowest rate first, then the knee. A request that
 * the store refuses for now counts as not answered; a permanent refusal is a mistake of the bench.
 *
 * @param what "put through HTTP"
 */
export async function rowsOfLoad(
  what: string,
  send: Send,
  { engine, say, ...options }: Offered,
): Promise<readonly Measured[]> {
  const unlessRefused: Send = () =>
    send().catch((error: unknown) => {
      if (error instanceof SchemalessError && error.retry === 'later') return false;
      throw error;
    });
  const seen = (rate: AtRate): void => say(`${what}: ${rateLine(rate)}`);
  const { closed, rates } = await risingLoad(unlessRefused, { ...options, seen });
  const row = rowsOn(engine);
  const knee = kneeOf(rates);
  const closedLoop = `${closed.perSecond.toFixed(0)} a second; ${timesOf(closed)}`;
  const hasBehind = rates.some(({ behind }) => behind !== undefined);
  const bearable = `p99 ≤ ${BEARABLE.times} × the lowest rate's, ≥ ${percent(BEARABLE.share)} answered${hasBehind ? `, ≤ ${BEARABLE.behindSeconds} s of them behind` : ''}`;
  return [
    row(`${what}; closed loop, ${closed.callers} callers`, closedLoop),
    ...rates.map((rate) => row(`${what}; open loop, ${percent(rate.share)} of that`, rateLine(rate))),
    row(`${what}; knee`, knee ? kneeLine(knee, rates) : 'none', bearable, knee !== undefined),
  ];
}

/** "120 of 120 a second; p50 2.1, p99 9.4, p99.9 14.0 ms of 720; 3 failed; 12 behind" */
function rateLine(rate: Omit<AtRate, 'share'>): string {
  const { offered, achieved, requests, failed, behind = 0 } = rate;
  return `${achieved.toFixed(0)} of ${offered.toFixed(0)} a second; ${timesOf(rate)} of ${requests.toLocaleString('en-US')}${failed > 0 ? `; ${failed} failed` : ''}${behind > 0 ? `; ${behind} behind` : ''}`;
}

/** "350 a second, 85 % of the closed loop's; p99 31.0 ms, 4.2 ms at the lowest rate" */
function kneeLine(knee: AtRate, rates: readonly AtRate[]): string {
  const [lowest = knee, highest = knee] = [rates[0], rates.at(-1)];
  const orMore = knee === highest ? ' or more' : '';
  return `${knee.offered.toFixed(0)} a second${orMore}, ${percent(knee.share)} of the closed loop's; p99 ${milliseconds(knee.p99)} ms, ${milliseconds(lowest.p99)} ms at the lowest rate`;
}

function timesOf({ p50, p99, p999 }: Pick<AtRate, 'p50' | 'p99' | 'p999'>): string {
  return `p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}, p99.9 ${milliseconds(p999)} ms`;
}

function milliseconds(time: number): string {
  return Number.isFinite(time) ? time.toFixed(1) : 'for ever';
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
