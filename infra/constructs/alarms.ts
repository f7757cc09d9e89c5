import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData, type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Construct } from 'constructs';
import type { AlarmTopics } from './alarm-topics.ts';
import { METRIC_NAMESPACE } from '../../shared/metrics.ts';

export const FIVE_MINUTES = Duration.minutes(5);
export const SUMMED = { statistic: Stats.SUM, period: FIVE_MINUTES };
export const HIGHEST = { statistic: Stats.MAXIMUM, period: FIVE_MINUTES };

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
  /** @default 0, where `below` says nothing */
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

  add(
    id: string,
    { section = id, what, metric, below, above = 0, periods = 1, silenceIsBad = false }: AlarmProps,
  ): Alarm {
    const alarm = new Alarm(this, id, {
      alarmDescription: `Schemaless: ${what}. See ${RUNBOOK}#${section}`,
      metric,
      threshold: below ?? above,
      comparisonOperator:
        below === undefined ? ComparisonOperator.GREATER_THAN_THRESHOLD : ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: periods,
      treatMissingData: silenceIsBad ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    for (const topic of this.topics[URGENT.has(section) ? 'urgent' : 'others']) {
      alarm.addAlarmAction(new SnsAction(topic));
      alarm.addOkAction(new SnsAction(topic));
    }
    return alarm;
  }

  /** Errors and throttles of a function. */
  addFunction(name: string, called: IFunction): void {
    this.add(`${name}-errors`, {
      section: 'function-errors',
      what: `${name} fails`,
      metric: called.metricErrors(SUMMED),
      periods: 2,
    });
    this.add(`${name}-throttles`, {
      section: 'function-throttles',
      what: `${name} is called more often than it may run`,
      metric: called.metricThrottles(SUMMED),
      periods: 2,
    });
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
