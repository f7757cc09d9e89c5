import type { Measured } from '../bench.ts';
import { rowsOn } from '../rows-and-plots.ts';
import { median } from '../side-by-side.ts';
import { MEBIBYTE, type Soaked, type WatchedMinute } from './run-soak.ts';

/** The first one is still warming up. */
const EARLY = 1;
/** Of the last minutes the one in the middle: one that something else on the machine disturbed does not count. */
const LATE = 5;
const MOST_GROWTH = 1.1;
/** With more the machine cannot keep up what it could for seconds, and a p99 says nothing. */
const MOST_REFUSED = 0.01;

/**
 * Holds the late minutes against the second one. The machine may get slower meanwhile, which a bare client beside it
 * shows: the p99 may have grown by as much as that client's, and a tenth.
 */
export function judgeMinutes({ peak, minutes }: Soaked, share: number, engine: string): readonly Measured[] {
  const sumOf = (count: (minute: WatchedMinute) => number): number =>
    minutes.reduce((sum, minute) => sum + count(minute), 0);
  const [operations, refused, wrong] = [
    sumOf((minute) => minute.operations),
    sumOf((minute) => minute.refused),
    sumOf((minute) => minute.wrong),
  ];
  const [p99, own, servers] = [
    growthOf(minutes, (minute) => minute.p99),
    growthOf(minutes, (minute) => minute.residentBytes),
    growthOf(minutes, (minute) => minute.serverBytes),
  ];
  const bare = growthOf(minutes, (minute) => minute.bareP99);
  const beyond = p99.ratio / Math.max(1, bare.ratio);
  const times = `median of minutes ${minutes.length - LATE + 1} to ${minutes.length}, times the second`;
  const memory = ({ early, late, ratio }: MinuteGrowth): string =>
    `${ratio.toFixed(2)} (${(early / MEBIBYTE).toFixed(0)}, ${(late / MEBIBYTE).toFixed(0)} MiB)`;
  const row = rowsOn(engine);
  return [
    row(
      'mixed load: peak, and what was kept up',
      `${peak.toFixed(0)}, ${(peak * share).toFixed(0)} a second; of ${operations.toLocaleString('en-US')} ${refused} refused, ${wrong} answered wrong`,
      `0 wrong, refused < ${MOST_REFUSED * 100} %`,
      wrong === 0 && refused < MOST_REFUSED * operations,
    ),
    row(
      `p99 at ${share * 100} % of the peak: ${times}`,
      `${p99.ratio.toFixed(2)} (${p99.early.toFixed(1)}, ${p99.late.toFixed(1)} ms), a bare client's ${bare.ratio.toFixed(2)} (${bare.early.toFixed(1)}, ${bare.late.toFixed(1)} ms)`,
      `≤ ${MOST_GROWTH} times the bare one's, or 1`,
      beyond <= MOST_GROWTH,
    ),
    row(`memory of the store's process: ${times}`, memory(own), `≤ ${MOST_GROWTH}`, own.ratio <= MOST_GROWTH),
    row(`memory of the servers: ${times}`, memory(servers)),
  ];
}

interface MinuteGrowth {
  readonly early: number;
  readonly late: number;
  readonly ratio: number;
}

function growthOf(minutes: readonly WatchedMinute[], valueOf: (minute: WatchedMinute) => number): MinuteGrowth {
  const [values, late] = [minutes.map(valueOf), median(minutes.slice(-LATE).map(valueOf))];
  const early = values[EARLY] ?? Number.NaN;
  return { early, late, ratio: late / early };
}
