import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction, type Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { ENVIRONMENT_VARIABLES, environmentOf, NO_ROOT_KEY, type StoreVariable } from '../../shared/environment.ts';
import type { DatabaseUser } from '../../shared/topology/database-users.ts';
import { OPENINGS_KEY } from '../../shared/granted-names.ts';
import type { StoreEnvironment } from './store-environment.ts';
import { acknowledgeLambdaPolicies, acknowledgeTracing } from './evidence.ts';
import { keptLog } from './kept-log.ts';
import { MACHINE, tracingOf } from './machine.ts';
import type { SchemalessStorage } from './storage.ts';
import { grantSecretKey, grantTableKey } from './key-uses.ts';
import { KEY_ACTIONS, KEY_ITEMS, type KeyUse } from './granted-items.ts';
import { grantItems, READ_TOPOLOGY, STATE_ITEMS, WRITE_TOPOLOGY } from './table-actions.ts';

export interface StoreFunctionProps {
  readonly environment: StoreEnvironment;
  readonly storage: SchemalessStorage;
  readonly code: Code;
  /** The export of the function's file. @default handler */
  readonly exportName?: string;
  readonly description: string;
  /** Who it is to MySQL. @default it does not reach the groups */
  readonly databaseUser?: DatabaseUser;
  /** Whether it answers requests, one at a time, or loops. */
  readonly kind: 'request' | 'loop';
  /** Instances reserved for it, and at most. @default as many as the account allows */
  readonly instances?: number | undefined;
  readonly timeout: Duration;
  /** MiB; a function's share of a CPU grows with it, 1,769 is one whole. */
  readonly memorySize: number;
}

type TableVariable = 'environment' | 'topologyTable' | 'stateTable';

/**
 * A function of the store: it reads the topology, connects to the groups as its user, if it has one, and may do nothing
 * else until it is granted.
 */
export class StoreFunction extends LambdaFunction {
  private readonly storage: SchemalessStorage;

  constructor(scope: Construct, id: string, props: StoreFunctionProps) {
    const { environment, storage, databaseUser } = props;
    super(scope, id, {
      description: props.description,
      ...MACHINE,
      handler: `index.${props.exportName ?? 'handler'}`,
      code: props.code,
      timeout: props.timeout,
      memorySize: props.memorySize,
      logGroup: keptLog(scope, id, environment),
      // Whoever calls repeats; a schedule comes again in a minute. Lambda's own two retries would only run beside them.
      retryAttempts: 0,
      // One that could not be started in its minute is succeeded by the next.
      ...(props.kind === 'loop' && { maxEventAge: Duration.seconds(60) }),
      ...(props.instances !== undefined && { reservedConcurrentExecutions: props.instances }),
      tracing: tracingOf(environment),
      environment: {
        ...environmentOf<TableVariable>({
          environment: environment.name,
          topologyTable: storage.tables.topology.tableName,
          stateTable: storage.tables.state.tableName,
        }),
        ...(databaseUser &&
          environmentOf<Exclude<StoreVariable, TableVariable>>({
            bufferCopies: String(environment.bufferCopies),
            access: environment.access,
            databaseUser,
            databaseAuth: environment.databaseAuth,
            connections: String(environment.connections[props.kind]),
          })),
      },
      ...(environment.functionsInVpc && {
        vpc: storage.network.vpc,
        vpcSubnets: storage.network.subnets,
        securityGroups: [storage.network.clients],
      }),
    });
    acknowledgeLambdaPolicies(this);
    acknowledgeTracing(this);
    this.storage = storage;
    storage.tables.topology.grant(this, ...READ_TOPOLOGY);
    grantTableKey(this, storage.encryptionKey, 'read');
    if (!databaseUser) return;
    this.grantLogin(databaseUser);
    if (environment.access === 'data-api') {
      // The only call there is of the Data API: statements are autocommitted, one at a time.
      this.addToRolePolicy(
        new PolicyStatement({
          actions: ['rds-data:ExecuteStatement'],
          resources: storage.groups.map(({ address }) => address.clusterArn),
        }),
      );
    }
  }

  /** With a token by the proxies, or by a secret: the owner has one of each group, others have one for all groups. */
  private grantLogin(user: DatabaseUser): void {
    const { groups, userSecrets, encryptionKey } = this.storage;
    if (!userSecrets) {
      for (const { proxy } of groups) proxy?.grantLogin(this, user);
      return;
    }
    const secrets = user === 'owner' ? groups.map(({ ownersSecret }) => ownersSecret) : [userSecrets[user]];
    for (const secret of secrets) secret.grantRead(this);
    grantSecretKey(this, encryptionKey, 'read');
  }

  /**
   * May write the topology: where shards are, which indexes there are.
   *
   * @param keys of the items, see `granted-items.ts` @default all
   */
  grantTopologyWrites(keys?: readonly string[]): void {
    const { topology } = this.storage.tables;
    if (keys) grantItems(this, topology, WRITE_TOPOLOGY, keys);
    else topology.grant(this, ...WRITE_TOPOLOGY);
    grantTableKey(this, this.storage.encryptionKey, 'write');
  }

  /** May tell other instances of circuits that opened, and hear of theirs: one item of the state table. */
  grantOpenCircuits(): void {
    grantItems(this, this.storage.tables.state, ['dynamodb:GetItem', 'dynamodb:UpdateItem'], [OPENINGS_KEY]);
    grantTableKey(this, this.storage.encryptionKey, 'write');
  }

  /** May read and write these items of the state, see `granted-items.ts`. */
  grantState(keys: readonly string[]): void {
    grantItems(this, this.storage.tables.state, STATE_ITEMS, keys);
    grantTableKey(this, this.storage.encryptionKey, 'write');
  }

  /** May look through the state for items that it knows no keys of: it sees all of them. */
  grantStateScan(): void {
    this.storage.tables.state.grant(this, 'dynamodb:Scan');
  }

  /** May read keys of datastores and subjects, make them, or forget subjects; also sets where they are. */
  grantKeys(use: KeyUse): void {
    const { tables, rootKey, encryptionKey } = this.storage;
    grantItems(this, tables.keys, KEY_ACTIONS[use], KEY_ITEMS);
    // Which subjects were forgotten is known by no key.
    if (use === 'forget') tables.keys.grant(this, 'dynamodb:Scan');
    grantTableKey(this, encryptionKey, use === 'read' ? 'read' : 'write');
    rootKey?.grantRead(this);
    this.addEnvironment(ENVIRONMENT_VARIABLES.keysTable, tables.keys.tableName);
    this.addEnvironment(ENVIRONMENT_VARIABLES.rootSecret, rootKey?.secretArn ?? NO_ROOT_KEY);
  }
}
