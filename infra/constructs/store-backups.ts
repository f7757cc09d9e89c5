import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupSelection, BackupVault } from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { acknowledge } from './evidence.ts';
import type { ShardGroup } from './shard-group.ts';
import type { StateTables } from './state-tables.ts';
import type { BackupSettings, StoreEnvironment } from './store-environment.ts';

interface StoreBackupsProps {
  readonly environment: Pick<StoreEnvironment, 'protectedFromDeletion'>;
  readonly backups: BackupSettings;
  readonly groups: readonly ShardGroup[];
  readonly tables: StateTables;
  /** Of the vault. @default a key of AWS Backup's own */
  readonly encryptionKey?: IKey | undefined;
}

/** At night where most of Europe is; each resource within an hour of it. */
const AT = Schedule.cron({ hour: '2', minute: '0' });
const START_WINDOW = Duration.hours(1);
const COMPLETION_WINDOW = Duration.hours(8);

/**
 * Copies of the clusters and both tables once a day, by AWS Backup: for what their own recovery to any second of the last
 * 35 days does not survive, a lost region or account. They are not of one moment: a store is set back to one by that
 * recovery, see `docs/operations/restore.md`.
 */
export class StoreBackups extends Construct {
  readonly vault: BackupVault;
  readonly plan: BackupPlan;

  constructor(
    scope: Construct,
    id: string,
    { environment, backups, groups, tables, encryptionKey }: StoreBackupsProps,
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

  /** Copies clusters of another stack, too, by the same plan and into the same vault. */
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
    'What AWS Backup itself needs to copy what it is told to, kept up to date by AWS; it restores nothing',
  );
}
