import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { CfnPermission, Code } from 'aws-cdk-lib/aws-lambda';
import { CfnRotationSchedule, type ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { environmentOf } from '../../shared/environment.ts';
import { GROUPS_KEY } from '../../shared/granted-names.ts';
import { Alarms, SUMMED } from './alarms.ts';
import { acknowledgeArn } from './evidence.ts';
import { clusterName, GROUP_TAG } from './store-environment.ts';
import { grantSecretKey, grantTableKey } from './key-uses.ts';
import type { StorageParts } from './storage-parts.ts';
import { grantItems } from './granted-items.ts';
import { secretNames } from './secrets.ts';
import { Worker } from './worker.ts';

/**
 * Changes the groups' passwords regularly, with Secrets Manager and a function. Its rights name clusters and secrets by
 * prefix: further groups are in stacks that wait for this one.
 */
export class PasswordRotation extends Construct {
  private readonly work: Worker;
  private readonly days: number;

  constructor(scope: Construct, id: string, storage: StorageParts, code: Code, days: number) {
    super(scope, id);
    const { environment, tables, encryptionKey, alarmTopics } = storage;
    this.days = days;
    this.work = new Worker(this, 'work', environment, {
      description: 'Schemaless: changes passwords of the databases',
      code,
      // Until RDS confirms the owner's new password.
      timeout: Duration.minutes(6),
      memorySize: 256,
      environment: environmentOf({ environment: environment.name, topologyTable: tables.topology.tableName }),
    });
    grantItems(this.work, tables.topology, ['dynamodb:GetItem'], [GROUPS_KEY]);
    grantTableKey(this.work, encryptionKey, 'read');
    grantSecretKey(this.work, encryptionKey, 'write');
    this.allowChanges(storage);
    this.work.addPermission('secrets', {
      principal: new ServicePrincipal('secretsmanager.amazonaws.com'),
      sourceAccount: Stack.of(this).account,
    });
    new Alarms(this, 'alarms', alarmTopics).add('failed', {
      section: 'password-change',
      what: 'a password of the databases could not be changed',
      metric: this.work.metricErrors(SUMMED),
    });
  }

  /** Rotates a secret of any stack. */
  schedule(scope: Construct, id: string, secret: ISecret): void {
    const rotation = new CfnRotationSchedule(scope, id, {
      secretId: secret.secretArn,
      rotationLambdaArn: this.work.functionArn,
      rotationRules: { automaticallyAfterDays: this.days },
      // There are no users before the first migration.
      rotateImmediatelyOnUpdate: false,
    });
    rotation.node.addDependency(this.work.node.findChild('secrets') as CfnPermission);
  }

  private allowChanges({ environment, prefix }: StorageParts): void {
    const stack = Stack.of(this);
    const secrets = stack.formatArn({ service: 'secretsmanager', resource: `secret:${secretNames(prefix)}*` });
    const clusters = stack.formatArn({
      service: 'rds',
      resource: 'cluster',
      resourceName: clusterName(environment, 'group-*'),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const allow = (actions: readonly string[], arn: string, conditions = {}): void => {
      this.work.addToRolePolicy(new PolicyStatement({ actions: [...actions], resources: [arn], conditions }));
      acknowledgeArn(
        this.work,
        arn,
        "The wildcard stands for the numbers of the store's groups, and for the rest of the names of its secrets",
      );
    };
    allow(
      [
        'secretsmanager:DescribeSecret',
        'secretsmanager:GetSecretValue',
        'secretsmanager:PutSecretValue',
        'secretsmanager:UpdateSecretVersionStage',
      ],
      secrets,
    );
    allow(['rds-data:ExecuteStatement', 'rds:DescribeDBClusters'], clusters);
    // AWS has no narrower right: it covers names and deletion protection too.
    allow(['rds:ModifyDBCluster'], clusters, { StringLike: { [`aws:ResourceTag/${GROUP_TAG}`]: 'group-*' } });
  }
}
