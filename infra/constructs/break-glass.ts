import { CfnOutput, Duration } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import { AccountRootPrincipal, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { AlarmTopics } from './alarm-topics.ts';
import type { ShardGroup } from './shard-group.ts';
import type { StoreEnvironment } from './store-environment.ts';

export interface BreakGlassProps {
  readonly environment: StoreEnvironment;
  readonly groups: readonly ShardGroup[];
  /** Told, as of what is urgent, when somebody takes the role. */
  readonly alarmTopics: AlarmTopics;
}

/**
 * The way to the SQL of the runbook, where nobody else has one: a role for people, by which they run statements over the
 * RDS Data API as the owner of each group.
 *
 * - Whoever of the account may assume roles takes it, with a second factor, for an hour.
 * - The urgent topics are told of each time, where a trail of CloudTrail has the account's management events; the
 *   statements themselves are data events, to be had by who wants them.
 */
export class BreakGlass extends Construct {
  readonly role: Role;
  readonly arn: CfnOutput;
  /** One for each group. */
  readonly commands: readonly CfnOutput[];
  /** Tells that the role was taken; undefined where nobody is to be told. */
  readonly told: Rule | undefined;

  constructor(scope: Construct, id: string, { environment, groups, alarmTopics }: BreakGlassProps) {
    super(scope, id);
    this.role = new Role(this, 'role', {
      description: `Schemaless (${environment.name}): runs the SQL of the runbook, in an emergency`,
      assumedBy: new AccountRootPrincipal().withConditions({ Bool: { 'aws:MultiFactorAuthPresent': 'true' } }),
      maxSessionDuration: Duration.hours(1),
    });
    this.role.addToPolicy(
      new PolicyStatement({
        actions: ['rds-data:ExecuteStatement'],
        resources: groups.map(({ cluster }) => cluster.clusterArn),
      }),
    );
    for (const { secrets } of groups) secrets.owner.grantRead(this.role);
    this.arn = new CfnOutput(this, 'role-arn', {
      value: this.role.roleArn,
      description: 'For who has to run SQL of the runbook',
    });
    this.commands = groups.map(
      ({ name, cluster, secrets }) =>
        new CfnOutput(this, `${name}-sql`, {
          value: `aws rds-data execute-statement --resource-arn ${cluster.clusterArn} --secret-arn ${secrets.owner.secretArn} --sql`,
          description: `Runs a statement on the writer of ${name}, by that role`,
        }),
    );
    this.told =
      alarmTopics.urgent.length === 0
        ? undefined
        : new Rule(this, 'taken', {
            description: `Schemaless (${environment.name}): somebody took the role for emergencies`,
            eventPattern: {
              source: ['aws.sts'],
              detailType: ['AWS API Call via CloudTrail'],
              detail: { eventName: ['AssumeRole'], requestParameters: { roleArn: [this.role.roleArn] } },
            },
            targets: alarmTopics.urgent.map((topic) => new SnsTopic(topic)),
          });
  }
}
