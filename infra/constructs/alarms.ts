import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData, type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Construct } from 'constructs';
import type { AlarmTopics } from './alarm-topics.ts';
import { METRIC_NAMESPACE } from '../../shared/metrics.ts';

export const FIVE_MINUTES = Duration.minutes(5);

/** Describes every alarm's meaning, checks and fix. */
const RUNBOOK = 'infra/docs/operations/runbook.md';

/** Sections whose alarms wake people, as the runbook marks them. */
const URGENT = new Set([
  'buffer-oldest',
  'buffer-undecided',
  'group-connections',
  'log-cut',
  'log-hole',
  'loop-stopped',
  'proxy-logins',
  'server-errors',
  'trigger-unsent',
]);

interface AlarmProps {
  /** Of the runbook. @default the alarm's id */
  readonly section?: string;
  /** The fault in one line. */
  readonly what: string;
  readonly metric: IMetric;
  readonly above?: number;
  readonly below?: number;
  /** Consecutive periods. @default 1 */
  readonly periods?: number;
  /** Missing data counts as bad. @default false */
  readonly silenceIsBad?: boolean;
}

/** Alarms whose text links to the runbook. */
export class Alarms extends Construct {
  private readonly topics: AlarmTopics;

  constructor(scope: Construct, id: string, topics: AlarmTopics) {
    super(scope, id);
    this.topics = topics;
  }

  add(id: string, { section = id, what, metric, above, below, periods = 1, silenceIsBad = false }: AlarmProps): Alarm {
    const threshold = above ?? below;
    if (threshold === undefined) throw new Error(`${id}: wanted a threshold, got none`);
    const alarm = new Alarm(this, id, {
      alarmDescription: `Schemaless: ${what}. See ${RUNBOOK}#${section}`,
      metric,
      threshold,
      comparisonOperator:
        above === undefined ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: periods,
      treatMissingData: silenceIsBad ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    for (const topic of this.topics[URGENT.has(section) ? 'urgent' : 'others']) {
      alarm.addAlarmAction(new SnsAction(topic));
      alarm.addOkAction(new SnsAction(topic));
    }
    return alarm;
  }
}

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
