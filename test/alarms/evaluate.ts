import { runInNewContext } from 'node:vm';
import type { AlarmDefinition, Polled } from './alarm.ts';
import type { MetricStore } from './metrics/metric-store.ts';

type AlarmState = 'OK' | 'ALARM';

/**
 * Alarms over five minutes are judged over one, a fifth: AWS gives a value for each minute, and the loops are started
 * each minute. Alarms over one minute are unchanged.
 */
const LONGEST_PERIOD_SECONDS = 60;
/**
 * CloudWatch reads some periods more than it evaluates, and values in these replace missing ones. It does not say how
 * many; the examples of its documentation have two.
 */
const PERIODS_MORE = 2;

export function stateOf(alarm: AlarmDefinition, store: Pick<MetricStore, 'statistic'>, at: number): AlarmState {
  const periodMs = Math.min(alarm.periodSeconds, LONGEST_PERIOD_SECONDS) * 1000;
  const end = Math.floor(at / periodMs) * periodMs;
  const count = alarm.evaluationPeriods + PERIODS_MORE;
  const points = Array.from({ length: count }, (_, period) => {
    const from = end - (count - period) * periodMs;
    return pointOf(alarm.checks, store, from, from + periodMs);
  });
  return stateOfPoints(alarm, points);
}

type Judged = Pick<
  AlarmDefinition,
  'comparison' | 'threshold' | 'evaluationPeriods' | 'datapointsToAlarm' | 'silenceIsBad'
>;

/** @param points one for each period that is read, the oldest first; undefined without a value */
export function stateOfPoints(alarm: Judged, points: readonly (number | undefined)[]): AlarmState {
  const latest = points.filter((point) => point !== undefined).slice(-alarm.evaluationPeriods);
  const missing = alarm.evaluationPeriods - latest.length;
  const bad = latest.filter((point) => isBad(alarm, point)).length + (alarm.silenceIsBad ? missing : 0);
  return bad >= alarm.datapointsToAlarm ? 'ALARM' : 'OK';
}

function isBad({ comparison, threshold }: Judged, point: number): boolean {
  return comparison === 'GreaterThanThreshold' ? point > threshold : point < threshold;
}

function pointOf(checks: Polled, store: Pick<MetricStore, 'statistic'>, from: number, to: number): number | undefined {
  if (!('expression' in checks)) return store.statistic(checks, from, to);
  const { expression, metrics } = checks;
  return calculate(
    expression,
    Object.fromEntries(Object.entries(metrics).map(([id, metric]) => [id, store.statistic(metric, from, to)])),
  );
}

/** @throws Error for a function or a metric that is not known here */
export function calculate(expression: string, results: Readonly<Record<string, number | undefined>>) {
  const FILL = (value: number | undefined, otherwise: number): number | undefined =>
    value === undefined || Number.isNaN(value) ? otherwise : value;
  const IF = <T>(condition: boolean, value: T, otherwise: T): T => (condition ? value : otherwise);
  const point: unknown = runInNewContext(expression, { ...results, FILL, IF });
  return typeof point === 'number' && Number.isFinite(point) ? point : undefined;
}
