import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { CfnRule, Rule } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import { AccountRootPrincipal, ManagedPolicy, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { AlarmTopics } from './alarm-topics.ts';
import { grantSecretKey } from './key-uses.ts';
import type { ShardGroup } from './shard-group.ts';
import type { StoreEnvironment } from './store-environment.ts';

interface BreakGlassProps {
  readonly environment: StoreEnvironment;
  readonly groups: readonly ShardGroup[];
  /** Of the secrets. @default a key of Secrets Manager's own */
  readonly encryptionKey?: IKey | undefined;
  /** Told, as of what is urgent, when somebody takes the role. */
  readonly alarmTopics: AlarmTopics;
}

/**
 * The way to the SQL of the runbook, where nobody else has one: a role for people, by which they run statements over the
 * RDS Data API as the owner of each group.
 *
 * - IAM users of the account that may assume roles take it, with a second factor, for an hour, of the STS of the store's
 *   region alone, where it is told. Sessions of other roles have no second factor to show.
 * - The urgent topics are told of each time, where a trail of CloudTrail has the region's management events; the
 *   statements themselves are data events, to be had by who wants them.
 * - It reads the owner's password, which outlasts it: to be changed after each use.
 */
export class BreakGlass extends Construct {
  readonly role: Role;
  readonly arn: CfnOutput;
  /** Of the groups that the role was made with, three each. */
  readonly commands: readonly CfnOutput[];
  /** Tells that the role was taken; undefined where nobody is to be told. */
  readonly told: Rule | undefined;

  constructor(scope: Construct, id: string, { environment, groups, encryptionKey, alarmTopics }: BreakGlassProps) {
    super(scope, id);
    this.role = new Role(this, 'role', {
      description: `Schemaless (${environment.name}): runs the SQL of the runbook, in an emergency`,
      assumedBy: new AccountRootPrincipal().withConditions({
        Bool: { 'aws:MultiFactorAuthPresent': 'true' },
        // Of another region's STS this one's events say nothing.
        StringEquals: { 'aws:RequestedRegion': Stack.of(this).region },
      }),
      maxSessionDuration: Duration.hours(1),
    });
    this.role.addToPolicy(runStatements(groups));
    for (const { ownersSecret } of groups) ownersSecret.grantRead(this.role);
    grantSecretKey(this.role, encryptionKey, 'read');
    this.arn = new CfnOutput(this, 'role-arn', {
      value: this.role.roleArn,
      description: 'For who has to run SQL of the runbook',
    });
    this.commands = showCommands(this, groups);
    this.told = alarmTopics.urgent.length === 0 ? undefined : this.tell(environment, alarmTopics);
  }

  /**
   * Lets the role reach groups of another stack as well, by a policy of that stack: the role's own would have its stack
   * wait for the other one, which waits for it.
   */
  addGroups(scope: Construct, groups: readonly ShardGroup[]): void {
    const part = new Construct(scope, 'break-glass');
    const secrets = new PolicyStatement({
      actions: ['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret'],
      resources: groups.map(({ ownersSecret }) => ownersSecret.secretArn),
    });
    const policy = new ManagedPolicy(part, 'groups', { statements: [runStatements(groups), secrets] });
    policy.attachToRole(this.role);
    showCommands(part, groups);
  }

  private tell(environment: StoreEnvironment, { urgent }: AlarmTopics): Rule {
    const rule = new Rule(this, 'taken', {
      description: `Schemaless (${environment.name}): somebody took the role for emergencies`,
      eventPattern: {
        source: ['aws.sts'],
        detailType: ['AWS API Call via CloudTrail'],
        detail: { eventName: ['AssumeRole'], requestParameters: { roleArn: [this.role.roleArn] } },
      },
      targets: urgent.map((topic) => new SnsTopic(topic)),
    });
    // To assume a role counts as reading, of which rules hear nothing otherwise.
    if (rule.node.defaultChild instanceof CfnRule)
      rule.node.defaultChild.state = 'ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS';
    return rule;
  }
}

function runStatements(groups: readonly ShardGroup[]): PolicyStatement {
  return new PolicyStatement({
    actions: ['rds-data:ExecuteStatement'],
    // One that is to take its place after it was set back in time is marked before anybody else reaches it.
    resources: groups.flatMap(({ cluster }) => [cluster.clusterArn, `${cluster.clusterArn}-new`]),
  });
}

/** A stack has 200 outputs at most, most of which are for the service's. */
const COMMANDS_AN_OUTPUT = 3;

function showCommands(scope: Construct, groups: readonly ShardGroup[]): readonly CfnOutput[] {
  return groups.flatMap(({ name: first }, position) => {
    if (position % COMMANDS_AN_OUTPUT > 0) return [];
    const some = groups.slice(position, position + COMMANDS_AN_OUTPUT);
    const value = some
      .map(({ cluster, ownersSecret }) => commandOn(cluster.clusterArn, ownersSecret.secretArn))
      .join('\n');
    const named = some.map(({ name }) => name).join(', then of ');
    const description = `Runs a statement on the writer of ${named}, by that role`;
    return [new CfnOutput(scope, `${first}-sql`, { value, description })];
  });
}

function commandOn(cluster: string, secret: string): string {
  return `aws rds-data execute-statement --resource-arn ${cluster} --secret-arn ${secret} --result-set-options longReturnType=STRING --sql`;
}
