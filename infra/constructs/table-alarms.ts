import { MathExpression, Stats, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { AlarmTopics } from './alarm-topics.ts';
import { Alarms, FIVE_MINUTES } from './alarms.ts';
import type { StateTables } from './state-tables.ts';

interface TableAlarmsProps {
  readonly tables: StateTables;
  readonly topics: AlarmTopics;
}

export function addTableAlarms(scope: Construct, { tables, topics }: TableAlarmsProps): void {
  const alarms = new Alarms(scope, 'tables-alarms', topics);
  const { topology, state, keys } = tables;
  for (const [name, table] of Object.entries({ topology, state, keys }))
    alarms.add(`${name}-throttles`, {
      section: 'table-throttles',
      what: `DynamoDB throttles requests of the ${name} table`,
      metric: throttlesOf(table),
      above: 0,
      // DynamoDB scales within minutes.
      periods: 2,
    });
}

/** DynamoDB reports an operation only where it throttled. */
function throttlesOf(table: Table): MathExpression {
  const events = (name: string): Metric => table.metric(name, { statistic: Stats.SUM, period: FIVE_MINUTES });
  return new MathExpression({
    expression: 'FILL(reads, 0) + FILL(writes, 0)',
    usingMetrics: { reads: events('ReadThrottleEvents'), writes: events('WriteThrottleEvents') },
    period: FIVE_MINUTES,
    label: 'requests throttled',
  });
}
