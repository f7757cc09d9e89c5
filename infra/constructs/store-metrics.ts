import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { METRIC_NAMESPACE } from '../../shared/metrics.ts';

export interface StoreMetrics {
  sum(name: string): Metric;
  most(name: string): Metric;
}

export function storeMetrics(environment: string): StoreMetrics {
  const metric = (metricName: string, statistic: string): Metric =>
    new Metric({
      namespace: METRIC_NAMESPACE,
      metricName,
      dimensionsMap: { service: environment },
      statistic,
      period: Duration.minutes(1),
    });
  return { sum: (name) => metric(name, Stats.SUM), most: (name) => metric(name, Stats.MAXIMUM) };
}
