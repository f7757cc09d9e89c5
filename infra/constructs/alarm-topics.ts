import { CfnOutput, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnEventSubscription, type DatabaseCluster } from 'aws-cdk-lib/aws-rds';
import { Topic, type ITopic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';

/** Whom alarms tell, by how soon somebody has to look. */
export interface AlarmTopics {
  /** At once, at night too: writes or reads are refused, or something acknowledged is held back. */
  readonly urgent: readonly ITopic[];
  /** In working hours. */
  readonly others: readonly ITopic[];
  /** What RDS does with the clusters. */
  readonly events: readonly ITopic[];
}

/**
 * A list is told of all alarms; of parts that are left out nobody is told. RDS tells `others` what it does, and not a list:
 * whose topics may let CloudWatch alone publish.
 */
export type GivenTopics = readonly ITopic[] | Partial<Omit<AlarmTopics, 'events'>>;

export function topicsOf(given: GivenTopics = []): AlarmTopics {
  if ('urgent' in given || 'others' in given) {
    const { urgent = [], others = [] } = given;
    return { urgent, others, events: others };
  }
  const all = Array.isArray(given) ? (given as readonly ITopic[]) : [];
  return { urgent: all, others: all, events: [] };
}

/** Topics of an environment's own, for whoever is to be told to subscribe to. */
export class MadeTopics extends Construct implements AlarmTopics {
  readonly urgent: readonly ITopic[];
  readonly others: readonly ITopic[];
  readonly events: readonly ITopic[];
  /** By what they are called. */
  readonly arns: Readonly<Record<'urgent' | 'others', CfnOutput>>;

  /** @param email told of both, once its owner has confirmed it */
  constructor(scope: Construct, id: string, email?: string) {
    super(scope, id);
    const add = (name: 'urgent' | 'others'): ITopic => {
      const topic = new Topic(this, name, { enforceSSL: true });
      // A policy of its own takes the place of the one that lets the account's alarms publish.
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

/** What RDS says of a cluster that no figure shows. */
const CLUSTER_EVENTS = ['failover', 'failure', 'maintenance', 'notification'];

/** Has RDS tell what it does with clusters: failovers, failures, maintenance that is due. */
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
    // RDS tries whether it may publish: the topic's policy has to be there.
    subscription.node.addDependency(topic);
    return subscription;
  });
}
