import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ENVIRONMENT_NAMES, ENVIRONMENTS } from '../../../infra/environments.ts';
import { appOf, propertiesOf, resourcesOf } from '../support/synthesized.ts';

interface Artifact {
  readonly type: string;
  readonly properties?: { readonly terminationProtection?: boolean };
}

describe.each(ENVIRONMENT_NAMES)('the storage of %s', (environment) => {
  const app = appOf({ environment });
  const { stacks } = app;
  const properties = (type: string) => propertiesOf(stacks, type);

  it('has all clusters and tables copied, where it wants copies: as often as they are free, then weekly', () => {
    const [plan] = properties('AWS::Backup::BackupPlan');
    const { backups, groups } = ENVIRONMENTS[environment];
    if (!backups) return expect(plan).toBeUndefined();
    expect(Object(plan?.['BackupPlan']).BackupPlanRule).toMatchObject([
      { RuleName: 'daily', ScheduleExpression: 'cron(0 2 * * ? *)', Lifecycle: { DeleteAfterDays: 35 } },
      {
        RuleName: 'weekly',
        ScheduleExpression: 'cron(0 2 ? * SUN *)',
        Lifecycle: { DeleteAfterDays: backups.keepDays },
      },
    ]);
    const [selection] = properties('AWS::Backup::BackupSelection');
    expect(selection).toMatchObject({ BackupSelection: { Resources: { length: groups + 2 } } });
    expect(resourcesOf(stacks, 'AWS::Backup::BackupVault')).toMatchObject([{ DeletionPolicy: 'RetainExceptOnCreate' }]);
    const reported = properties('AWS::Events::Rule').filter(({ EventPattern }) =>
      isDeepStrictEqual(Object(EventPattern).source, ['aws.backup']),
    );
    expect(reported).toMatchObject([
      {
        EventPattern: { detail: { state: ['ABORTED', 'EXPIRED', 'FAILED'] } },
        Targets: [{ Arn: { Ref: expect.stringContaining('others') } }],
      },
    ]);
  });

  it('holds data in one stack, under logical ids that never change: CloudFormation would replace it by an empty resource', () => {
    expect(stacks.map(({ name }) => name).sort()).toEqual(
      ['service', 'storage'].map((part) => `Schemaless-${environment}-${part}`),
    );
    const storage = stacks.find(({ name }) => name.endsWith('-storage'));
    for (const [id, type] of [
      ['tablestopology03C0A74D', 'AWS::DynamoDB::Table'],
      ['tablesstateC940E36A', 'AWS::DynamoDB::Table'],
      ['group1clusterA0F6B135', 'AWS::RDS::DBCluster'],
      ['group1clusteraE37D33B1', 'AWS::RDS::DBInstance'],
      ['Secretgroup1', 'AWS::SecretsManager::Secret'],
      ['networkvpcFB59E56F', 'AWS::EC2::VPC'],
      // Functions have passwords where they have no tokens.
      ...(ENVIRONMENTS[environment].databaseAuth === 'secret'
        ? ([['Secretgroupswrite', 'AWS::SecretsManager::Secret']] as const)
        : []),
    ] as const)
      expect([id, storage?.template.Resources[id]?.Type]).toEqual([id, type]);
  });

  it('keeps its tables when a protected stack goes, recoverable to any second', () => {
    const tables = resourcesOf(stacks, 'AWS::DynamoDB::Table');
    const policy = ENVIRONMENTS[environment].protectedFromDeletion ? 'Retain' : 'Delete';
    // The topology, the state (leases and offsets), and the keys.
    expect(tables).toHaveLength(3);
    for (const table of tables) {
      expect(table).toMatchObject({ DeletionPolicy: policy, UpdateReplacePolicy: policy });
      expect(table.Properties).toMatchObject({
        BillingMode: 'PAY_PER_REQUEST',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: { SSEEnabled: true },
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      });
    }
  });

  it('protects its stacks from deletion if the environment says so', () => {
    const manifest = JSON.parse(app.texts.get('manifest.json') ?? '');
    const found = Object.values(manifest.artifacts as Record<string, Artifact>)
      .filter(({ type }) => type === 'aws:cloudformation:stack')
      .map(({ properties }) => properties?.terminationProtection ?? false);
    const wanted = ENVIRONMENTS[environment].protectedFromDeletion;
    expect([found.length > 1, new Set(found)]).toEqual([true, new Set([wanted])]);
  });

  it('leaves nothing behind when it is deleted, unless it is protected', () => {
    if (ENVIRONMENTS[environment].protectedFromDeletion) return;
    const kept = stacks.flatMap(({ template }) =>
      Object.entries(template.Resources).filter(([, { DeletionPolicy = 'Delete' }]) => DeletionPolicy !== 'Delete'),
    );
    expect(kept.map(([name]) => name)).toEqual([]);
  });

  it('has as many clusters and nodes as the environment says, encrypted, with the settings that the store relies on', () => {
    const { groups, readersPerGroup, protectedFromDeletion } = ENVIRONMENTS[environment];
    const clusters = resourcesOf(stacks, 'AWS::RDS::DBCluster');
    expect(clusters).toHaveLength(groups);
    expect(properties('AWS::RDS::DBInstance')).toHaveLength(groups * (1 + readersPerGroup));
    for (const cluster of clusters) {
      expect(cluster).toMatchObject({ DeletionPolicy: protectedFromDeletion ? 'Retain' : 'Delete' });
      expect(cluster.Properties).toMatchObject({
        StorageEncrypted: true,
        BackupRetentionPeriod: protectedFromDeletion ? 35 : 1,
        DeletionProtection: protectedFromDeletion,
        EngineVersion: expect.stringContaining('mysql_aurora.3.10.'),
      });
    }
    expect(properties('AWS::RDS::DBClusterParameterGroup')).toEqual([
      expect.objectContaining({
        Parameters: expect.objectContaining({ time_zone: 'UTC', require_secure_transport: 'ON' }),
      }),
    ]);
    expect(properties('AWS::RDS::DBParameterGroup')).toEqual([
      expect.objectContaining({
        Parameters: { innodb_lock_wait_timeout: '1', lock_wait_timeout: '1', max_allowed_packet: '67108864' },
      }),
    ]);
  });
});
