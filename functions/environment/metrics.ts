import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { METRIC_NAMESPACE } from '../../shared/metrics.ts';
import { environmentName } from './config.ts';

const metrics = new Metrics({ namespace: METRIC_NAMESPACE, serviceName: environmentName() });

/**
 * Counts what happened, as one line of the log in CloudWatch's embedded metric format. Writes the line
 * before it returns, so requests that run at the same time do not mix.
 *
 * @param names one for each time: `stored`, `stored`, `conflict`
 * @param requestId of the request in which it happened, where there is one
 */
export function count(names: readonly string[], requestId?: string): void {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  countTimes(counts, requestId);
}

/** Gives figures as they are now, by name. */
export function gauge(figures: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(figures)) metrics.addMetric(name, MetricUnit.NoUnit, value);
  metrics.publishStoredMetrics();
}

/**
 * Gives figures of one of several that would hide each other under one name.
 *
 * @param dimension what tells them apart, besides the environment
 */
export function gaugeOf(dimension: Readonly<Record<string, string>>, figures: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(dimension)) metrics.addDimension(name, value);
  gauge(figures);
}

/** Counts what happened many times: for each name how often. */
export function countTimes(counts: ReadonlyMap<string, number>, requestId?: string): void {
  if (counts.size === 0) return;
  for (const [name, times] of counts) metrics.addMetric(name, MetricUnit.Count, times);
  if (requestId !== undefined) metrics.addMetadata('request_id', requestId);
  metrics.publishStoredMetrics();
}
