import { Duration } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { METRIC_NAMESPACE } from '../../shared/metrics.ts';
import type { EnvironmentName } from '../environments.ts';

/** What the functions of an environment give by themselves, a minute at a time. */
export function storeMetric(environment: EnvironmentName, metricName: string, statistic: string): Metric {
  return new Metric({
    namespace: METRIC_NAMESPACE,
    metricName,
    dimensionsMap: { service: environment },
    statistic,
    period: Duration.minutes(1),
  });
}
