import { Alarm, ComparisonOperator, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';

/** Says of every alarm what it means, what to look at and what to do. */
export const RUNBOOK = 'infra/docs/operations/runbook.md';

export interface AlarmProps {
  /** Its section of the runbook. */
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

/** An alarm whose text leads to what to do about it. Whom it tells is the owner's to say. */
export function addAlarm(
  scope: Construct,
  id: string,
  { section, what, metric, above, below, periods = 1, silenceIsBad = false }: AlarmProps,
): Alarm {
  const threshold = above ?? below;
  if (threshold === undefined) throw new Error(`${id}: wanted a threshold, got none`);
  return new Alarm(scope, id, {
    alarmDescription: `Schemaless: ${what}. See ${RUNBOOK}#${section}`,
    metric,
    threshold,
    comparisonOperator:
      above === undefined ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
    evaluationPeriods: periods,
    treatMissingData: silenceIsBad ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
  });
}
