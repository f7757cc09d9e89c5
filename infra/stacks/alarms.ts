import { Duration } from 'aws-cdk-lib';
import { Alarm, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { METRIC_NAMESPACE, METRIC_SERVICE, METRICS } from '../../shared/metrics.ts';

/** Longer than a failover and the drain behind it take: then somebody has to look. */
const OLDEST_SECONDS = 300;

/** The oldest buffered write waits too long. Whom an alarm tells is the owner's to say. */
export function bufferAlarm(scope: Construct): Alarm {
  return new Alarm(scope, 'buffer-oldest', {
    alarmDescription: 'Schemaless: a buffered write waits for its primary, or for one of its readers, for over five minutes',
    metric: new Metric({ namespace: METRIC_NAMESPACE, metricName: METRICS.bufferOldestSeconds, dimensionsMap: { service: METRIC_SERVICE }, statistic: Stats.MAXIMUM, period: Duration.minutes(1) }),
    threshold: OLDEST_SECONDS,
    evaluationPeriods: 1,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
}
