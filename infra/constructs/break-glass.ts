import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { CfnRule, Rule } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import { AccountRootPrincipal, ManagedPolicy, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { AlarmTopics } from './alarms.ts';
import { grantSecretKey } from './key-uses.ts';
import type { ShardGroup } from './shard-group.ts';
import type { StorageParts } from './storage-parts.ts';
import type { StoreEnvironment } from './store-environment.ts';

/**
 * A role with which people run the runbook's SQL over the RDS Data API, as each group's owner.
 *
 * - IAM users of the account assume it with a second factor, for an hour, through the STS of the store's region.
 * - The urgent topics get a message each time, if CloudTrail records the region's management events.
 * - It reads the owner's password: change that after each use.
 */
export class BreakGlass extends Construct {
  readonly role: Role;
  readonly arn: CfnOutput;
  readonly commands: readonly CfnOutput[];
  /** Reports that the role was assumed; undefined without a topic. */
  readonly told: Rule | undefined;

  constructor(scope: Construct, id: string, storage: StorageParts, groups: readonly ShardGroup[]) {
    super(scope, id);
    const { environment, encryptionKey, alarmTopics } = storage;
    this.role = new Role(this, 'role', {
      description: `Schemaless (${environment.name}): runs the SQL of the runbook, in an emergency`,
      assumedBy: new AccountRootPrincipal().withConditions({
        Bool: { 'aws:MultiFactorAuthPresent': 'true' },
        // Events of another region's STS do not arrive here.
        StringEquals: { 'aws:RequestedRegion': Stack.of(this).region },
      }),
      maxSessionDuration: Duration.hours(1),
    });
    this.role.addToPolicy(runStatements(groups));
    for (const { ownersSecret } of groups) ownersSecret.grantRead(this.role);
    grantSecretKey(this.role, encryptionKey, 'read');
    this.arn = new CfnOutput(this, 'role-arn', {
      value: this.role.roleArn,
      description: 'The role for running SQL of the runbook',
    });
    this.commands = showCommands(this, groups);
    this.told = alarmTopics.urgent.length === 0 ? undefined : this.tell(environment, alarmTopics);
  }

  /** Allows groups of another stack by a policy there: a role's own policy would make the stacks a circle. */
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
      description: `Schemaless (${environment.name}): the role for emergencies was assumed`,
      eventPattern: {
        source: ['aws.sts'],
        detailType: ['AWS API Call via CloudTrail'],
        detail: { eventName: ['AssumeRole'], requestParameters: { roleArn: [this.role.roleArn] } },
      },
      targets: urgent.map((topic) => new SnsTopic(topic)),
    });
    // AssumeRole counts as a read, which rules do not see by default.
    if (rule.node.defaultChild instanceof CfnRule)
      rule.node.defaultChild.state = 'ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS';
    return rule;
  }
}

function runStatements(groups: readonly ShardGroup[]): PolicyStatement {
  return new PolicyStatement({
    actions: ['rds-data:ExecuteStatement'],
    // A restored cluster (`-new`) is marked before clients reach it.
    resources: groups.flatMap(({ cluster }) => [cluster.clusterArn, `${cluster.clusterArn}-new`]),
  });
}

/** A stack has at most 200 outputs. */
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
