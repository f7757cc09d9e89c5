import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Construct } from 'constructs';
import type { AlarmTopics } from './alarm-topics.ts';

export const FIVE_MINUTES = Duration.minutes(5);

/** Says of every alarm what it means, what to look at and what to do. */
const RUNBOOK = 'infra/docs/operations/runbook.md';

/**
 * Sections whose alarms wake somebody: requests are refused, what was acknowledged is held back, or what runs all the
 * time does not. The runbook names the same.
 */
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
  readonly section: string;
  /** What is wrong, one line. */
  readonly what: string;
  readonly metric: IMetric;
  /** It sounds above this… */
  readonly above?: number;
  /** … or below this. */
  readonly below?: number;
  /** Periods in a row. @default 1 */
  readonly periods?: number;
  /** No figure is a bad one: somebody should have given one. @default no figure is a good one */
  readonly silenceIsBad?: boolean;
}

/** Alarms whose texts lead to what to do about them, and whom they tell. */
export class Alarms extends Construct {
  private readonly topics: AlarmTopics;

  /** @param topics told when an alarm sounds, and when it is over */
  constructor(scope: Construct, id: string, topics: AlarmTopics) {
    super(scope, id);
    this.topics = topics;
  }

  add(id: string, { section, what, metric, above, below, periods = 1, silenceIsBad = false }: AlarmProps): Alarm {
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
