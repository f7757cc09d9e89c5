/** A group as its template describes it; generated names are shell expressions. */
export interface RestoredGroup {
  readonly name: string;
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly nodes: readonly { readonly id: string; readonly properties: Readonly<Record<string, unknown>> }[];
  /** Undefined for a group that functions reach over the Data API. */
  readonly proxy: string | undefined;
  /** Of the owner's password. */
  readonly secret: string;
}

interface Way {
  /** Closes the shards until the drain has restored their hints. */
  readonly sql: string | undefined;
  readonly isDeleted: boolean;
  readonly vault: string | undefined;
}

/** Properties of a cluster that the backup holds, or that are set later. */
const NOT_RESTORED = new Set([
  'DBClusterIdentifier',
  'Engine',
  'EngineVersion',
  'MasterUsername',
  'MasterUserPassword',
  'StorageEncrypted',
  'EnableHttpEndpoint',
]);

/** Returns the commands that replace a group's cluster. Names stay: stacks, policies and the topology hold them. */
export function groupCommands(
  { name, cluster, nodes, proxy, secret }: RestoredGroup,
  { sql, isDeleted, vault }: Way,
): readonly string[] {
  const id = String(cluster['DBClusterIdentifier']);
  const [next, old] = [`${id}-new`, `${id}-old`];
  const httpEndpoint = (verb: 'enable' | 'disable', of: string): string =>
    `aws rds ${verb}-http-endpoint --resource-arn "$(arn ${of})"`;
  const rename = (from: string, to: string): readonly string[] => [
    `aws rds modify-db-cluster --db-cluster-identifier ${from} --new-db-cluster-identifier ${to} --apply-immediately`,
    `present cluster ${to}`,
  ];
  const proxyTargets = (verb: 'register' | 'deregister'): string =>
    `aws rds ${verb}-db-proxy-targets --db-proxy-name "${proxy}" --db-cluster-identifiers ${id}`;
  return [
    ...(isDeleted
      ? []
      : [
          `# ${name}, 1: isolate it. Continue once its writes get 202.`,
          proxy === undefined ? httpEndpoint('disable', id) : proxyTargets('deregister'),
          `# ${name}, 2: free the names of its instances.`,
          ...nodes.flatMap((node, nth) => [
            `aws rds modify-db-instance --db-instance-identifier "${node.id}" --new-db-instance-identifier ${old}-${nth} --apply-immediately`,
            `present instance ${old}-${nth}`,
          ]),
        ]),
    `# ${name}, 3: restore a cluster.`,
    `${restore({ id, isDeleted, vault })} --db-cluster-identifier ${next}${flagsOf(cluster, NOT_RESTORED)}`,
    `present cluster ${next}`,
    `# ${name}, 4: add its nodes, the Data API and the present password of its owner.`,
    ...nodes.flatMap((node) => [
      `N="${node.id}"`,
      `aws rds create-db-instance --db-cluster-identifier ${next} --db-instance-identifier "$N"${flagsOf(node.properties, new Set(['DBClusterIdentifier']))}`,
      'present instance "$N"',
    ]),
    httpEndpoint('enable', next),
    `aws rds modify-db-cluster --db-cluster-identifier ${next} --apply-immediately --master-user-password "$(aws secretsmanager get-secret-value --secret-id "${secret}" --query SecretString --output text | jq -r .password)"`,
    `sleep 60; present cluster ${next}`,
    ...(sql === undefined
      ? []
      : [
          `# ${name}, 5: close its shards, with the emergency role.`,
          `aws rds-data execute-statement --resource-arn "$(arn ${next})" --secret-arn "${secret}" --sql '${sql}'`,
        ]),
    `# ${name}, 6: swap the names. The Data API forgets a renamed cluster.`,
    ...(isDeleted ? [] : rename(id, old)),
    ...rename(next, id),
    httpEndpoint('disable', id),
    ...(cluster['EnableHttpEndpoint'] === true ? [httpEndpoint('enable', id)] : []),
    ...(proxy === undefined ? [] : [proxyTargets('register')]),
  ];
}

function restore({ id, isDeleted, vault }: Pick<Way, 'isDeleted' | 'vault'> & { readonly id: string }): string {
  if (vault !== undefined)
    return `aws rds restore-db-cluster-from-snapshot --snapshot-identifier "$(copy_of :cluster:${id})" --engine aurora-mysql`;
  const source = isDeleted
    ? `--source-db-cluster-resource-id "$(aws rds describe-db-cluster-automated-backups --db-cluster-identifier ${id} --query 'DBClusterAutomatedBackups[0].DbClusterResourceId' --output text)"`
    : `--source-db-cluster-identifier ${id}`;
  return `aws rds restore-db-cluster-to-point-in-time ${source} --restore-to-time "$T"`;
}

/** Returns a template's properties as flags of the AWS CLI. */
function flagsOf(properties: Readonly<Record<string, unknown>>, without: ReadonlySet<string>): string {
  return Object.entries(properties)
    .filter(([name]) => !without.has(name))
    .map(([name, value]) => ` \\\n  ${flagOf(name, value)}`)
    .join('');
}

function flagOf(name: string, value: unknown): string {
  const flag = name.replaceAll(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/gu, '-').toLowerCase();
  if (typeof value === 'boolean') return `--${value ? '' : 'no-'}${flag}`;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return `--${flag} ${values.map(shown).join(' ')}`;
}

/** `MinCapacity=1,MaxCapacity=16` */
function shown(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return /[^\w.-]/u.test(String(value)) ? `"${String(value)}"` : String(value);
  return Object.entries(value)
    .map(([key, one]) => `${key}=${String(one)}`)
    .join(',');
}
