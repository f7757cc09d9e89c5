import { Duration, CfnOutput, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData, type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Construct } from 'constructs';
import { METRIC_NAMESPACE } from '../../shared/metrics.ts';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnEventSubscription, type DatabaseCluster } from 'aws-cdk-lib/aws-rds';
import { Topic, type ITopic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';

export const FIVE_MINUTES = Duration.minutes(5);
export const SUMMED = { statistic: Stats.SUM, period: FIVE_MINUTES };
export const HIGHEST = { statistic: Stats.MAXIMUM, period: FIVE_MINUTES };

/** Describes every alarm's meaning, checks and fix. */
const RUNBOOK = 'infra/docs/operations/runbook.md';

/** Sections whose alarms wake people, as the runbook marks them. */
const URGENT = new Set([
  'buffer-oldest',
  'buffer-in-doubt',
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
  /** @default 0 without `below` */
  readonly above?: number;
  readonly below?: number;
  /** Bad periods. @default 1 */
  readonly periods?: number;
  /** Of so many. @default consecutive ones */
  readonly among?: number;
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
    { section = id, what, metric, below, above = 0, periods = 1, among = periods, silenceIsBad = false }: AlarmProps,
  ): Alarm {
    const alarm = new Alarm(this, id, {
      alarmDescription: `Schemaless: ${what}. See ${RUNBOOK}#${section}`,
      metric,
      threshold: below ?? above,
      comparisonOperator:
        below === undefined ? ComparisonOperator.GREATER_THAN_THRESHOLD : ComparisonOperator.LESS_THAN_THRESHOLD,
      evaluationPeriods: among,
      ...(among !== periods && { datapointsToAlarm: periods }),
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

export type StoreMetrics = ReturnType<typeof storeMetrics>;

export function storeMetrics(environment: string) {
  const metric = (metricName: string, statistic: string): Metric =>
    new Metric({
      namespace: METRIC_NAMESPACE,
      metricName,
      dimensionsMap: { service: environment },
      statistic,
      period: Duration.minutes(1),
    });
  return { sum: (name: string) => metric(name, Stats.SUM), most: (name: string) => metric(name, Stats.MAXIMUM) };
}

export interface AlarmTopics {
  /** Wakes people: requests are refused, or something acknowledged is held back. */
  readonly urgent: readonly ITopic[];
  readonly others: readonly ITopic[];
  readonly events: readonly ITopic[];
}

/** A list gets all alarms. Events go to `others` only: a list's topics may allow CloudWatch alone to publish. */
export type GivenTopics = readonly ITopic[] | Partial<Omit<AlarmTopics, 'events'>>;

export function topicsOf(given: GivenTopics = []): AlarmTopics {
  if ('urgent' in given || 'others' in given) {
    const { urgent = [], others = [] } = given;
    return { urgent, others, events: others };
  }
  const all = Array.isArray(given) ? (given as readonly ITopic[]) : [];
  return { urgent: all, others: all, events: [] };
}

/** Topics of the environment, to subscribe to. */
export class MadeTopics extends Construct implements AlarmTopics {
  readonly urgent: readonly ITopic[];
  readonly others: readonly ITopic[];
  readonly events: readonly ITopic[];
  readonly arns: Readonly<Record<'urgent' | 'others', CfnOutput>>;

  constructor(scope: Construct, id: string, email?: string) {
    super(scope, id);
    const add = (name: 'urgent' | 'others'): ITopic => {
      const topic = new Topic(this, name, { enforceSSL: true });
      // A topic policy replaces the default one, which lets the account's alarms publish.
      topic.addToResourcePolicy(
        new PolicyStatement({
          actions: ['sns:Publish'],
          principals: ['cloudwatch', 'events.rds'].map((service) => new ServicePrincipal(`${service}.amazonaws.com`)),
          resources: [topic.topicArn],
          conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
        }),
      );
      if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
      return topic;
    };
    const shown = (name: string, { topicArn }: ITopic, description: string): CfnOutput =>
      new CfnOutput(this, `${name}-arn`, { value: topicArn, description });
    const [urgent, others] = [add('urgent'), add('others')];
    this.urgent = [urgent];
    this.others = [others];
    this.events = [others];
    this.arns = {
      urgent: shown('urgent', urgent, 'Receives alarms that need attention now'),
      others: shown('others', others, 'Receives all other alarms, RDS events of the clusters, and failed backups'),
    };
  }
}

/** Events of RDS that no metric shows. */
const CLUSTER_EVENTS = ['failover', 'failure', 'maintenance', 'notification'];

/** Sends RDS events of clusters: failovers, failures, due maintenance. */
export function subscribeToEvents(
  scope: Construct,
  clusters: readonly DatabaseCluster[],
  { events }: AlarmTopics,
): readonly CfnEventSubscription[] {
  return events.map((topic, position) => {
    const subscription = new CfnEventSubscription(scope, `events-${position}`, {
      snsTopicArn: topic.topicArn,
      sourceType: 'db-cluster',
      sourceIds: clusters.map(({ clusterIdentifier }) => clusterIdentifier),
      eventCategories: CLUSTER_EVENTS,
    });
    // RDS tests whether it may publish, so the topic's policy has to exist.
    subscription.node.addDependency(topic);
    return subscription;
  });
}
