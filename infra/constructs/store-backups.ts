import { Duration } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupSelection, BackupVault } from 'aws-cdk-lib/aws-backup';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import type { AlarmTopics } from './alarms.ts';
import { acknowledge } from './evidence.ts';
import { removalOf } from './kept-log.ts';
import type { ShardGroup } from './shard-group.ts';
import type { StorageParts } from './storage-parts.ts';
import { backupRules, type BackupSettings } from './store-environment.ts';

/** Night in most of Europe. AWS Backup makes one copy at a time: that of the rule by which it stays longest. */
const AT = { hour: '2', minute: '0' };
const START_WINDOW = Duration.hours(1);
const COMPLETION_WINDOW = Duration.hours(8);

/**
 * AWS Backup copies of clusters and both tables, for a lost region or account. They are of different moments: a
 * restore uses point-in-time recovery, see `docs/operations/restore.md`.
 */
export class StoreBackups extends Construct {
  readonly vault: BackupVault;
  readonly plan: BackupPlan;
  /** Reports failed copies; undefined without a topic. */
  readonly failures: Rule | undefined;

  constructor(
    scope: Construct,
    id: string,
    { environment, tables, encryptionKey, alarmTopics }: StorageParts,
    groups: readonly ShardGroup[],
    backups: BackupSettings,
  ) {
    super(scope, id);
    this.vault = new BackupVault(this, 'vault', {
      ...(encryptionKey && { encryptionKey }),
      blockRecoveryPointDeletion: environment.protectedFromDeletion,
      removalPolicy: removalOf(environment),
    });
    const vault = backups.copyTo && BackupVault.fromBackupVaultArn(this, 'elsewhere', backups.copyTo);
    this.plan = new BackupPlan(this, 'plan', {
      backupVault: this.vault,
      backupPlanRules: backupRules(backups).map(
        ({ name, on, days, elsewhere }) =>
          new BackupPlanRule({
            ruleName: name,
            scheduleExpression: Schedule.cron({ ...AT, ...on }),
            startWindow: START_WINDOW,
            completionWindow: COMPLETION_WINDOW,
            deleteAfter: Duration.days(days),
            ...(vault && {
              copyActions: [{ destinationBackupVault: vault, deleteAfter: Duration.days(elsewhere) }],
            }),
          }),
      ),
    });
    this.failures = alarmTopics.events.length === 0 ? undefined : this.reportFailures(alarmTopics);
    const selection = this.plan.addSelection('all', {
      resources: [
        ...clustersOf(groups),
        ...[tables.topology, tables.state].map((table) => BackupResource.fromDynamoDbTable(table)),
      ],
    });
    acknowledgeBackupRole(selection);
  }

  private reportFailures({ events }: AlarmTopics): Rule {
    const ours = [this.vault.backupVaultArn];
    return new Rule(this, 'failed', {
      description: 'Schemaless: a copy by AWS Backup failed',
      eventPattern: {
        source: ['aws.backup'],
        detailType: ['Backup Job State Change', 'Copy Job State Change'],
        detail: {
          state: ['ABORTED', 'EXPIRED', 'FAILED'],
          $or: [{ backupVaultArn: ours }, { sourceBackupVaultArn: ours }],
        },
      },
      targets: events.map((topic) => new SnsTopic(topic)),
    });
  }

  /** Adds clusters of another stack to the same plan and vault. */
  addGroups(scope: Construct, groups: readonly ShardGroup[]): void {
    const selection = new BackupSelection(scope, 'backups', {
      backupPlan: this.plan,
      backupSelectionName: `from-${groups[0]?.name}`,
      resources: clustersOf(groups),
    });
    acknowledgeBackupRole(selection);
  }
}

function clustersOf(groups: readonly ShardGroup[]): BackupResource[] {
  return groups.map(({ cluster }) => BackupResource.fromArn(cluster.clusterArn));
}

function acknowledgeBackupRole(selection: BackupSelection): void {
  acknowledge(
    selection,
    'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]',
    'AWS Backup needs it to copy selected resources; it restores nothing, and AWS keeps it up to date',
  );
}
