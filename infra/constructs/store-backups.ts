import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupSelection, BackupVault } from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Construct } from 'constructs';
import { acknowledge } from './evidence.ts';
import type { ShardGroup } from './shard-group.ts';
import type { StorageParts } from './storage-parts.ts';
import type { BackupSettings } from './store-environment.ts';

/** Night in most of Europe. */
const AT = Schedule.cron({ hour: '2', minute: '0' });
const START_WINDOW = Duration.hours(1);
const COMPLETION_WINDOW = Duration.hours(8);

/**
 * Daily AWS Backup copies of clusters and both tables, for a lost region or account. They are of different moments: a
 * restore uses point-in-time recovery, see `docs/operations/restore.md`.
 */
export class StoreBackups extends Construct {
  readonly vault: BackupVault;
  readonly plan: BackupPlan;

  constructor(
    scope: Construct,
    id: string,
    { environment, tables, encryptionKey }: StorageParts,
    groups: readonly ShardGroup[],
    backups: BackupSettings,
  ) {
    super(scope, id);
    const { protectedFromDeletion } = environment;
    this.vault = new BackupVault(this, 'vault', {
      ...(encryptionKey && { encryptionKey }),
      blockRecoveryPointDeletion: protectedFromDeletion,
      removalPolicy: protectedFromDeletion ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const deleteAfter = Duration.days(backups.keepDays);
    this.plan = new BackupPlan(this, 'plan', {
      backupVault: this.vault,
      backupPlanRules: [
        new BackupPlanRule({
          ruleName: 'daily',
          scheduleExpression: AT,
          startWindow: START_WINDOW,
          completionWindow: COMPLETION_WINDOW,
          deleteAfter,
          ...(backups.copyTo !== undefined && {
            copyActions: [
              {
                destinationBackupVault: BackupVault.fromBackupVaultArn(this, 'elsewhere', backups.copyTo),
                deleteAfter,
              },
            ],
          }),
        }),
      ],
    });
    const selection = this.plan.addSelection('all', {
      resources: [
        ...clustersOf(groups),
        ...[tables.topology, tables.state].map((table) => BackupResource.fromDynamoDbTable(table)),
      ],
    });
    acknowledgeBackupRole(selection);
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
