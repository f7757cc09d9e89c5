import { CfnOutput, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnEventSubscription, type DatabaseCluster } from 'aws-cdk-lib/aws-rds';
import { Topic, type ITopic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';

export interface AlarmTopics {
  /** Wakes people: requests are refused, or something acknowledged is held back. */
  readonly urgent: readonly ITopic[];
  readonly others: readonly ITopic[];
  readonly events: readonly ITopic[];
}

/** A list gets all alarms. RDS events go to `others` only: a list's topics may allow CloudWatch alone to publish. */
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
      urgent: shown('urgent', urgent, 'Told of alarms that somebody has to look at now'),
      others: shown('others', others, 'Told of all other alarms, and of what RDS does with the clusters'),
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
