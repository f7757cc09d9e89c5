import { Stack } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { DatabaseCluster } from 'aws-cdk-lib/aws-rds';
import type { Construct } from 'constructs';
import { subscribeToEvents, topicsOf, type AlarmTopics, type GivenTopics } from './alarms.ts';
import { BreakGlass } from './break-glass.ts';
import { checkEnvironment } from './store-options.ts';
import type { FunctionCode } from './function-code.ts';
import { addGroupAlarms, addTableAlarms } from './storage-alarms.ts';
import { groupsByStack, type GroupsInStack } from './group-stacks.ts';
import { keyForStore, reportLostKey } from './key-uses.ts';
import { MysqlParameters, ShardGroup } from './shard-group.ts';
import { Network, type BroughtNetwork } from './network.ts';
import { PasswordRotation } from './password-rotation.ts';
import { Preflight, wantsPreflight } from './preflight.ts';
import { canSeal, type StoreEnvironment } from './store-environment.ts';
import { RootKey, acknowledgeUnrotated, secretNames, userSecrets, type UserSecrets } from './secrets.ts';
import { StateTables } from './state-tables.ts';
import type { StorageParts } from './storage-parts.ts';
import { StoreBackups } from './store-backups.ts';

export interface SchemalessStorageProps {
  readonly environment: StoreEnvironment;
  /** The clusters' VPC. @default a new one */
  readonly network?: BroughtNetwork | undefined;
  /** For clusters, tables, secrets and queues. @default the services' own keys */
  readonly encryptionKey?: IKey | undefined;
  readonly alarmTopics?: GivenTopics | undefined;
  /** Code of the preflight and the password rotation. */
  readonly code?: FunctionCode | undefined;
}

/** The parts that outlive deployments: groups, topology and state. Fills a scope, so resources keep their names. */
export class SchemalessStorage implements StorageParts {
  readonly environment: StoreEnvironment;
  readonly network: Network;
  readonly groups: readonly ShardGroup[];
  readonly tables: StateTables;
  /** Undefined if functions cannot reach it. */
  readonly rootKey: RootKey | undefined;
  readonly encryptionKey: IKey | undefined;
  readonly alarmTopics: AlarmTopics;
  readonly backups: StoreBackups | undefined;
  readonly breakGlass: BreakGlass | undefined;
  readonly preflight: Preflight | undefined;
  readonly prefix: string;
  /** Undefined with token logins. */
  readonly userSecrets: UserSecrets | undefined;
  readonly rotation: PasswordRotation | undefined;

  constructor(scope: Construct, props: SchemalessStorageProps) {
    const { environment } = props;
    checkEnvironment(environment);
    this.environment = environment;
    this.prefix = secretPrefix(scope);
    const encryptionKey = props.encryptionKey && keyForStore(scope, props.encryptionKey);
    this.encryptionKey = encryptionKey;
    this.alarmTopics = topicsOf(props.alarmTopics);
    if (encryptionKey) reportLostKey(scope, encryptionKey, this.alarmTopics);
    this.preflight =
      props.code && wantsPreflight(scope)
        ? new Preflight(scope, 'preflight', environment, props.code.own('preflight'))
        : undefined;
    this.network = new Network(scope, 'network', environment, props.network);
    this.tables = new StateTables(scope, 'tables', environment, encryptionKey);
    const { topology, state, keys } = this.tables;
    addTableAlarms(scope, this.tables, this.alarmTopics);
    this.network.allowStore(
      [topology.tableArn, state.tableArn, keys.tableArn],
      [secretNames(this.prefix), `${this.prefix}rootkey`],
    );
    const [here, ...elsewhere] = groupsByStack(scope, environment);
    const { passwordDays = 0, backups } = environment;
    this.rotation =
      props.code && passwordDays > 0
        ? new PasswordRotation(scope, 'passwords', this, props.code.own('rotate-passwords'), passwordDays)
        : undefined;
    this.userSecrets = environment.databaseAuth === 'iam' ? undefined : this.addUserSecrets(scope);
    this.rootKey = canSeal(environment) ? new RootKey(scope, 'root-key', this) : undefined;
    const parameters = new MysqlParameters(scope, 'parameters');
    const groups = this.addGroups(here, parameters);
    this.backups = backups ? new StoreBackups(scope, 'backups', this, groups, backups) : undefined;
    // Resources that take long, are counted, or would remain after a refused deployment.
    this.preflight?.holdBack([
      this.network,
      this.tables,
      ...(this.rootKey ? [this.rootKey] : []),
      parameters,
      ...(this.rotation ? [this.rotation] : []),
      ...Object.values(this.userSecrets ?? {}),
      ...groups,
      ...(this.backups ? [this.backups] : []),
    ]);
    subscribeToEvents(scope, clustersOf(groups), this.alarmTopics);
    this.breakGlass = environment.breakGlass ? new BreakGlass(scope, 'break-glass', this, groups) : undefined;
    this.groups = [...groups, ...elsewhere.flatMap((stack) => this.addFurtherGroups(stack))];
  }

  private addUserSecrets(scope: Construct): UserSecrets {
    const made = userSecrets(scope, this);
    for (const [user, secret] of Object.entries(made))
      if (this.rotation) this.rotation.schedule(this.rotation, user, secret);
      else acknowledgeUnrotated(secret);
    return made;
  }

  private addGroups({ scope, numbers }: GroupsInStack, parameters: MysqlParameters): readonly ShardGroup[] {
    return numbers.map((number) => {
      const group = new ShardGroup(scope, `group-${number}`, this, parameters);
      addGroupAlarms(scope, group, this.environment, this.alarmTopics);
      return group;
    });
  }

  /** The storage's stack must not depend on theirs. */
  private addFurtherGroups(stack: GroupsInStack): readonly ShardGroup[] {
    const groups = this.addGroups(stack, new MysqlParameters(stack.scope, 'parameters'));
    this.backups?.addGroups(stack.scope, groups);
    subscribeToEvents(stack.scope, clustersOf(groups), this.alarmTopics);
    this.breakGlass?.addGroups(stack.scope, groups);
    return groups;
  }
}

function clustersOf(groups: readonly ShardGroup[]): readonly DatabaseCluster[] {
  return groups.map(({ cluster }) => cluster);
}

/** Stores that share a stack need different prefixes. */
function secretPrefix(scope: Construct): string {
  // The address's first two characters are always the same.
  return Stack.isStack(scope) ? 'Secret' : `S${scope.node.addr.slice(2, 7)}`;
}
