import type { AppContext } from '../app-context.ts';
import type { EnvironmentProps } from '../environments.ts';
import { GROUP_TAG } from '../constructs/store-environment.ts';
import { MARK_RESTORED } from '../../shared/sql/statements/record-writer.ts';
import { createResolver } from '../local/template/resolver.ts';
import { ofType, type LoadedStack, type ResourceAddress } from '../local/template/template.ts';
import { groupCommands, type RestoredGroup } from './group-commands.ts';

export interface RestoreOrder {
  readonly stacks: readonly LoadedStack[];
  readonly environment: Pick<EnvironmentProps, 'name' | 'bufferCopies' | 'managedInstances'>;
  /** Of the deployment. */
  readonly context: AppContext;
  /** A group, or `all`: every group, both tables and the queues. */
  readonly what: string;
  /** In UTC: "2026-11-30T10:00:00Z". */
  readonly time: string;
  /** Its cluster no longer exists. */
  readonly isDeleted: boolean;
  /** The name of a vault of AWS Backup. @default point-in-time recovery */
  readonly vault: string | undefined;
}

/**
 * Returns a shell script that restores a group, or everything, on AWS: the steps of `restore.md` in their order. It asks
 * CloudFormation for generated names. Throws an Error that names an unknown group.
 */
export function restorePlan({ stacks, environment, context, what, time, isDeleted, vault }: RestoreOrder): string {
  const resolver = createResolver(stacks, {
    ref: physicalId,
    attribute: physicalId,
    secret: () => '{"password":""}',
  });
  const { resources, property } = resolver;
  const groups = ofType(resources, 'AWS::RDS::DBCluster').map((cluster): RestoredGroup => {
    const proxied = ofType(resources, 'AWS::RDS::DBProxyTargetGroup').find((target) =>
      refersTo(target, 'DBClusterIdentifiers', cluster),
    );
    const attachment = ofType(resources, 'AWS::SecretsManager::SecretTargetAttachment').find((one) =>
      refersTo(one, 'TargetId', cluster),
    );
    return {
      name: String(listOf(property(cluster, 'Tags')).find((tag) => Object(tag).Key === GROUP_TAG)?.Value),
      cluster: propertiesOf(cluster, property),
      nodes: ofType(resources, 'AWS::RDS::DBInstance')
        .filter((node) => refersTo(node, 'DBClusterIdentifier', cluster))
        .map((node) => ({ id: physicalId(node), properties: propertiesOf(node, property) })),
      proxy: proxied && String(property(proxied, 'DBProxyName')),
      secret: String(attachment && property(attachment, 'SecretId')),
    };
  });
  // AWS reserves no concurrency for managed functions: nothing would stop them.
  if (what === 'all' && environment.managedInstances)
    throw new Error('managedInstances: wanted none while everything is restored: deploy without it first');
  const wanted = what === 'all' ? groups : groups.filter(({ name }) => name === what);
  if (wanted.length === 0)
    throw new Error(`group: wanted one of ${groups.map(({ name }) => name).join(', ')} or all, got ${what}`);
  const sql = environment.bufferCopies > 0 ? MARK_RESTORED : undefined;
  const ofGroups = wanted.flatMap((group) => groupCommands(group, { sql, isDeleted, vault }));
  const contextFlags = Object.entries(context)
    .map(([key, value]) => `-c ${key}=${String(value)}`)
    .join(' ');
  const deploy = [
    '# Migrate: passwords, datastores, indexes and schema steps since then.',
    `npx cdk deploy --all ${contextFlags} -c schemaless:migrate="$T"`,
  ];
  const lines =
    what === 'all'
      ? [
          ...stopped(resources),
          ...ofGroups,
          ...tables(resources, environment.name, vault),
          ...purged(resources),
          ...started(resources, property),
          ...deploy,
        ]
      : [...ofGroups, ...deploy];
  return `${[...head(time, vault), ...lines].join('\n')}\n`;
}

function head(time: string, vault: string | undefined): readonly string[] {
  return [
    '# Run it block by block, in bash, with the AWS CLI and jq. Each block waits for its end.',
    `T=${time}`,
    ...(vault === undefined
      ? []
      : [
          `VAULT=${vault}`,
          'BACKUP_ROLE="arn:aws:iam::$(aws sts get-caller-identity --query Account --output text):role/service-role/AWSBackupDefaultServiceRole"',
        ]),
    'id() { aws cloudformation describe-stack-resource --stack-name "$1" --logical-resource-id "$2" --query StackResourceDetail.PhysicalResourceId --output text; }',
    `arn() { aws rds describe-db-clusters --db-cluster-identifier "$1" --query 'DBClusters[0].DBClusterArn' --output text; }`,
    'present() { until aws rds "describe-db-$1s" "--db-$1-identifier" "$2" > /dev/null 2>&1; do sleep 10; done; aws rds wait "db-$1-available" "--db-$1-identifier" "$2"; }',
    `copy_of() { aws backup list-recovery-points-by-backup-vault --backup-vault-name "$VAULT" --by-created-before "$T" --query "reverse(sort_by(RecoveryPoints[?contains(ResourceArn, '$1')], &CreationDate))[0].RecoveryPointArn" --output text; }`,
  ];
}

/** Every function but those of the migration: a deployment runs them. */
function functionsIn(resources: readonly ResourceAddress[]): readonly ResourceAddress[] {
  return ofType(resources, 'AWS::Lambda::Function').filter(
    ({ logicalId, resource: { Properties: { Environment } = {} } }) =>
      'SCHEMALESS_ENVIRONMENT' in Object(Object(Environment).Variables) && !logicalId.startsWith('migration'),
  );
}

function stopped(resources: readonly ResourceAddress[]): readonly string[] {
  return [
    '# Stop every function, and wait until the loops have ended.',
    ...functionsIn(resources).map(
      (one) =>
        `aws lambda put-function-concurrency --function-name "${physicalId(one)}" --reserved-concurrent-executions 0`,
    ),
    'sleep 900',
  ];
}

function started(resources: readonly ResourceAddress[], property: Property): readonly string[] {
  return [
    '# Start the functions.',
    ...functionsIn(resources).map((one) => {
      const reserved = property(one, 'ReservedConcurrentExecutions');
      const name = `--function-name "${physicalId(one)}"`;
      return reserved === undefined
        ? `aws lambda delete-function-concurrency ${name}`
        : `aws lambda put-function-concurrency ${name} --reserved-concurrent-executions ${String(reserved)}`;
    }),
  ];
}

/** Not the keys: forgotten subjects would return. */
function tables(
  resources: readonly ResourceAddress[],
  environment: string,
  vault: string | undefined,
): readonly string[] {
  return ofType(resources, 'AWS::DynamoDB::Table').flatMap((table) => {
    const [, part] = /^tables(topology|state)/u.exec(table.logicalId) ?? [];
    if (part === undefined) return [];
    const [name, copy] = [`"${physicalId(table)}"`, `schemaless-${environment}-${part}-restored`];
    return [
      `# Restore the table ${part}.`,
      vault === undefined
        ? `aws dynamodb restore-table-to-point-in-time --source-table-name ${name} --target-table-name ${copy} --restore-date-time "$T"`
        : `aws backup start-restore-job --recovery-point-arn "$(copy_of ${table.logicalId})" --iam-role-arn "$BACKUP_ROLE" --metadata targetTableName=${copy}`,
      `until aws dynamodb wait table-exists --table-name ${copy}; do sleep 10; done`,
      `node infra/restore/copy-items.ts ${copy} ${name}`,
      `aws dynamodb delete-table --table-name ${copy}`,
    ];
  });
}

/** The queues' policies deny purges. */
function purged(resources: readonly ResourceAddress[]): readonly string[] {
  const queues = ofType(resources, 'AWS::SQS::Queue');
  return [
    '# Purge the queues. SQS drops repeats within five minutes.',
    ...queues.flatMap((queue) => [
      `Q="${physicalId(queue)}"`,
      `aws sqs get-queue-attributes --queue-url "$Q" --attribute-names Policy | jq -c '.Attributes' > policy.json`,
      `aws sqs set-queue-attributes --queue-url "$Q" --attributes '{"Policy":""}' && sleep 60`,
      'aws sqs purge-queue --queue-url "$Q" && sleep 60',
      'aws sqs set-queue-attributes --queue-url "$Q" --attributes file://policy.json',
    ]),
    'sleep 300',
  ];
}

type Property = (address: ResourceAddress, name: string) => unknown;

function propertiesOf(address: ResourceAddress, property: Property): Readonly<Record<string, unknown>> {
  const names = Object.keys(address.resource.Properties ?? {});
  return Object.fromEntries(names.map((name) => [name, property(address, name)]));
}

function physicalId({ stack, logicalId }: ResourceAddress): string {
  return `$(id ${stack.name} ${logicalId})`;
}

function refersTo({ stack, resource }: ResourceAddress, name: string, to: ResourceAddress): boolean {
  return stack === to.stack && JSON.stringify(resource.Properties?.[name]).includes(`"${to.logicalId}"`);
}

function listOf(value: unknown): readonly { readonly Key?: unknown; readonly Value?: unknown }[] {
  return Array.isArray(value) ? value : [];
}
