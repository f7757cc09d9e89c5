import { Stack } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { DatabaseCluster } from 'aws-cdk-lib/aws-rds';
import type { Construct } from 'constructs';
import { subscribeToEvents, topicsOf, type AlarmTopics, type GivenTopics } from './alarm-topics.ts';
import { BreakGlass } from './break-glass.ts';
import { checkEnvironment } from './check-environment.ts';
import type { FunctionCode } from './function-code.ts';
import { addGroupAlarms } from './group-alarms.ts';
import { groupsByStack, type GroupsInStack } from './group-stacks.ts';
import { keyForStore } from './key-uses.ts';
import { MysqlParameters } from './mysql-parameters.ts';
import { Network, type BroughtNetwork } from './network.ts';
import { PasswordRotation } from './password-rotation.ts';
import { Preflight, wantsPreflight } from './preflight.ts';
import { canSeal } from './can-seal.ts';
import { RootKey } from './root-key.ts';
import { ShardGroup } from './shard-group.ts';
import { StateTables } from './state-tables.ts';
import { StoreBackups } from './store-backups.ts';
import { addTableAlarms } from './table-alarms.ts';
import { MOST_KEY_DAYS, type StoreEnvironment } from './store-environment.ts';
import { acknowledgeUnrotated, secretNames, userSecrets, type UserSecrets } from './user-secrets.ts';

export interface SchemalessStorageProps {
  readonly environment: StoreEnvironment;
  /** The VPC that the clusters are in. @default one is made */
  readonly network?: BroughtNetwork | undefined;
  /** Of clusters, tables, secrets, and the service's queues. @default keys of the services' own */
  readonly encryptionKey?: IKey | undefined;
  /** Told by the alarms of the storage and its service, when one sounds and when it is over. */
  readonly alarmTopics?: GivenTopics | undefined;
  /** Of what asks the account, before anything is made, whether it takes it, and of what changes passwords. */
  readonly code?: FunctionCode | undefined;
}

/**
 * What must outlive every deployment: the shard groups, the topology and the state. It fills a scope, a stack or a part
 * of one, so that a stack that has nothing else names its resources as if it had made them itself.
 */
export class SchemalessStorage {
  readonly environment: StoreEnvironment;
  readonly network: Network;
  /** All of them, in whatever stack. */
  readonly groups: readonly ShardGroup[];
  readonly tables: StateTables;
  /** Above the keys of sealed fields; undefined where functions have no way to it. */
  readonly rootKey: RootKey | undefined;
  /** As `keyForStore` gives it. */
  readonly encryptionKey: IKey | undefined;
  readonly alarmTopics: AlarmTopics;
  /** Of AWS Backup, where the environment wants any. */
  readonly backups: StoreBackups | undefined;
  /** Where people may run SQL in an emergency. */
  readonly breakGlass: BreakGlass | undefined;
  /** Where there is code for it, and the context does not switch it off. */
  readonly preflight: Preflight | undefined;
  /** Of the names of its secrets. */
  private readonly prefix: string;
  /** Of the users of all groups, where they log in with passwords and not with tokens. */
  readonly userSecrets: UserSecrets | undefined;
  /** Who changes passwords, where there is code for it and the environment wants it. */
  private readonly rotation: PasswordRotation | undefined;

  /** @throws an Error that names what does not go together */
  constructor(scope: Construct, props: SchemalessStorageProps) {
    const { environment } = props;
    checkEnvironment(environment);
    const { protectedFromDeletion } = environment;
    this.environment = environment;
    this.prefix = secretPrefix(scope);
    const encryptionKey = props.encryptionKey && keyForStore(scope, props.encryptionKey);
    this.encryptionKey = encryptionKey;
    this.alarmTopics = topicsOf(props.alarmTopics);
    this.preflight =
      props.code && wantsPreflight(scope)
        ? new Preflight(scope, 'preflight', { environment, scope, code: props.code.own('preflight') })
        : undefined;
    this.network = new Network(scope, 'network', { environment, brought: props.network });
    this.tables = new StateTables(scope, 'tables', {
      protectedFromDeletion,
      encryptionKey,
      keyDays: environment.keyDays ?? MOST_KEY_DAYS,
    });
    const { topology, state, keys } = this.tables;
    addTableAlarms(scope, { tables: this.tables, topics: this.alarmTopics });
    this.network.allowStore(
      [topology.tableArn, state.tableArn, keys.tableArn],
      [secretNames(this.prefix), `${this.prefix}rootkey`],
    );
    const [here, ...elsewhere] = groupsByStack(scope, environment);
    this.rotation = this.addRotation(scope, props);
    this.userSecrets = environment.databaseAuth === 'iam' ? undefined : this.addUserSecrets(scope);
    this.rootKey = canSeal(environment)
      ? new RootKey(scope, 'root-key', { prefix: this.prefix, encryptionKey, isRetained: protectedFromDeletion })
      : undefined;
    const parameters = new MysqlParameters(scope, 'parameters');
    const groups = this.addGroups(here, parameters);
    const { backups } = environment;
    const { tables, alarmTopics } = this;
    this.backups = backups
      ? new StoreBackups(scope, 'backups', { environment, backups, groups, tables, encryptionKey })
      : undefined;
    // All that takes long, is counted, or would stay of a deployment that is refused.
    this.preflight?.holdBack([
      this.network,
      tables,
      ...(this.rootKey ? [this.rootKey] : []),
      parameters,
      ...(this.rotation ? [this.rotation] : []),
      ...Object.values(this.userSecrets ?? {}),
      ...groups,
      ...(this.backups ? [this.backups] : []),
    ]);
    subscribeToEvents(scope, clustersOf(groups), alarmTopics);
    this.breakGlass = environment.breakGlass
      ? new BreakGlass(scope, 'break-glass', { environment, groups, encryptionKey, alarmTopics })
      : undefined;
    this.groups = [...groups, ...elsewhere.flatMap((stack) => this.addFurtherGroups(stack))];
  }

  private addRotation(scope: Construct, { code }: SchemalessStorageProps): PasswordRotation | undefined {
    const { environment, tables, encryptionKey, prefix, alarmTopics } = this;
    const { passwordDays: days = 0 } = environment;
    if (!code || days === 0) return undefined;
    return new PasswordRotation(scope, 'passwords', {
      environment,
      tables,
      prefix,
      encryptionKey,
      alarmTopics,
      code: code.own('rotate-passwords'),
      days,
    });
  }

  private addUserSecrets(scope: Construct): UserSecrets {
    const { environment, encryptionKey, prefix } = this;
    const made = userSecrets(scope, { prefix, encryptionKey, isRetained: environment.protectedFromDeletion });
    for (const [user, secret] of Object.entries(made))
      if (this.rotation) this.rotation.schedule(this.rotation, user, secret);
      else acknowledgeUnrotated(secret);
    return made;
  }

  private addGroups({ scope, numbers }: GroupsInStack, parameters: MysqlParameters): readonly ShardGroup[] {
    const { environment, network, encryptionKey, userSecrets, rotation, prefix, alarmTopics: topics } = this;
    return numbers.map((number) => {
      const name = `group-${number}`;
      const group = new ShardGroup(scope, name, {
        name,
        environment,
        network,
        parameters,
        secretPrefix: prefix,
        userSecrets,
        rotation,
        encryptionKey,
      });
      addGroupAlarms(scope, { group, environment, topics });
      return group;
    });
  }

  /** What belongs to them is in their stack: the storage's own knows nothing of it. */
  private addFurtherGroups(stack: GroupsInStack): readonly ShardGroup[] {
    const { alarmTopics: topics } = this;
    const groups = this.addGroups(stack, new MysqlParameters(stack.scope, 'parameters'));
    this.backups?.addGroups(stack.scope, groups);
    subscribeToEvents(stack.scope, clustersOf(groups), topics);
    this.breakGlass?.addGroups(stack.scope, groups);
    return groups;
  }
}

function clustersOf(groups: readonly ShardGroup[]): readonly DatabaseCluster[] {
  return groups.map(({ cluster }) => cluster);
}

/** Several stores may lie in one stack; what fills a stack by itself needs no telling apart. */
function secretPrefix(scope: Construct): string {
  // The address begins with two characters that are alike in all.
  return Stack.isStack(scope) ? 'Secret' : `S${scope.node.addr.slice(2, 7)}`;
}
