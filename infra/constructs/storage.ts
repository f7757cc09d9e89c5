import { Stack } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { subscribeToEvents, topicsOf, type AlarmTopics, type GivenTopics } from './alarm-topics.ts';
import { BreakGlass } from './break-glass.ts';
import { checkEnvironment } from './check-environment.ts';
import type { FunctionCode } from './function-code.ts';
import { keyForStore } from './key-uses.ts';
import { MysqlParameters } from './mysql-parameters.ts';
import { Network, type BroughtNetwork } from './network.ts';
import { Preflight, wantsPreflight } from './preflight.ts';
import { ShardGroup } from './shard-group.ts';
import { StateTables } from './state-tables.ts';
import { StoreBackups } from './store-backups.ts';
import type { StoreEnvironment } from './store-environment.ts';

export interface SchemalessStorageProps {
  readonly environment: StoreEnvironment;
  /** The VPC that the clusters are in. @default one is made */
  readonly network?: BroughtNetwork | undefined;
  /** Of clusters, tables, secrets, and the service's queues. @default keys of the services' own */
  readonly encryptionKey?: IKey | undefined;
  /** Told by the alarms of the storage and its service, when one sounds and when it is over. @default nobody is told */
  readonly alarmTopics?: GivenTopics | undefined;
  /** Has the account asked, before anything is made, whether it takes it. @default it is not asked */
  readonly code?: FunctionCode | undefined;
}

/**
 * What must outlive every deployment: the shard groups, the topology and the state. It fills a scope, a stack or a part
 * of one, so that a stack that has nothing else names its resources as if it had made them itself.
 */
export class SchemalessStorage {
  readonly environment: StoreEnvironment;
  readonly network: Network;
  readonly groups: readonly ShardGroup[];
  readonly tables: StateTables;
  /** As `keyForStore` gives it. */
  readonly encryptionKey: IKey | undefined;
  readonly alarmTopics: AlarmTopics;
  /** Of AWS Backup, where the environment wants any. */
  readonly backups: StoreBackups | undefined;
  /** Where people may run SQL in an emergency. */
  readonly breakGlass: BreakGlass | undefined;
  /** Where there is code for it, and the context does not switch it off. */
  readonly preflight: Preflight | undefined;

  /** @throws an Error that names what does not go together */
  constructor(scope: Construct, props: SchemalessStorageProps) {
    const { environment } = props;
    checkEnvironment(environment);
    const { protectedFromDeletion } = environment;
    this.environment = environment;
    const encryptionKey = props.encryptionKey && keyForStore(scope, props.encryptionKey);
    this.encryptionKey = encryptionKey;
    this.alarmTopics = topicsOf(props.alarmTopics);
    this.preflight =
      props.code && wantsPreflight(scope)
        ? new Preflight(scope, 'preflight', { environment, scope, code: props.code.own('preflight') })
        : undefined;
    this.network = new Network(scope, 'network', { environment, brought: props.network });
    this.tables = new StateTables(scope, 'tables', { protectedFromDeletion, encryptionKey });
    const { topology, state } = this.tables;
    this.network.allowStore([topology.tableArn, state.tableArn], `${secretPrefix(scope)}group`);
    const parameters = new MysqlParameters(scope, 'parameters');
    this.groups = Array.from({ length: environment.groups }, (_, index) => {
      const name = `group-${index + 1}`;
      return new ShardGroup(scope, name, {
        name,
        environment,
        network: this.network,
        parameters,
        secretPrefix: secretPrefix(scope),
        encryptionKey,
      });
    });
    const { backups } = environment;
    const { groups, tables } = this;
    this.backups = backups
      ? new StoreBackups(scope, 'backups', { environment, backups, groups, tables, encryptionKey })
      : undefined;
    // All that takes long, is counted, or would stay of a deployment that is refused.
    const held = [this.network, tables, parameters, ...groups, ...(this.backups ? [this.backups] : [])];
    this.preflight?.holdBack(held);
    const clusters = this.groups.map(({ cluster }) => cluster);
    subscribeToEvents(scope, clusters, this.alarmTopics);
    this.breakGlass = environment.breakGlass
      ? new BreakGlass(scope, 'break-glass', {
          environment,
          groups: this.groups,
          encryptionKey,
          alarmTopics: this.alarmTopics,
        })
      : undefined;
  }
}

/** Several stores may lie in one stack; what fills a stack by itself needs no telling apart. */
function secretPrefix(scope: Construct): string {
  // The address begins with two characters that are alike in all.
  return Stack.isStack(scope) ? 'Secret' : `S${scope.node.addr.slice(2, 7)}`;
}
