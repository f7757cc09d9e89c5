import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { LoggingFormat } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { ENVIRONMENT_VARIABLES, environmentOf, NO_ROOT_KEY, type StoreVariable } from '../../shared/environment.ts';
import type { DatabaseUser } from '../../shared/topology/database-users.ts';
import { OPENINGS_KEY } from '../../shared/granted-names.ts';
import type { ManagedInstances } from './managed-instances.ts';
import type { SchemalessStorage } from './storage.ts';
import { Worker, type WorkerProps } from './worker.ts';
import { grantSecretKey, grantTableKey } from './key-uses.ts';
import {
  KEY_ACTIONS,
  KEY_ITEMS,
  type KeyUse,
  grantItems,
  READ_TOPOLOGY,
  STATE_ITEMS,
  WRITE_TOPOLOGY,
} from './granted-items.ts';

export interface StoreFunctionProps extends Pick<WorkerProps, 'code' | 'handler' | 'description'> {
  readonly storage: SchemalessStorage;
  /** The MySQL user. @default none: it does not reach the groups */
  readonly databaseUser?: DatabaseUser;
  readonly kind: 'request' | 'loop';
  /** The most instances. @default the account's limit */
  readonly instances?: number | undefined;
  /** @default it runs on demand */
  readonly managed?: ManagedInstances | undefined;
  readonly timeout: Duration;
  readonly memorySize: number;
}

type TableVariable = 'environment' | 'topologyTable' | 'stateTable';

/** A function of the store: reads the topology, connects to the groups. Everything else is granted. */
export class StoreFunction extends Worker {
  private readonly storage: SchemalessStorage;

  constructor(scope: Construct, id: string, props: StoreFunctionProps) {
    const { storage, databaseUser, kind, instances, managed, ...given } = props;
    const { environment } = storage;
    super(scope, id, environment, {
      ...given,
      // The next start comes within a minute.
      ...(kind === 'loop' && { maxEventAge: Duration.seconds(60) }),
      ...(instances !== undefined && !managed && { reservedConcurrentExecutions: instances }),
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
            connections: String(environment.connections[kind]),
          })),
      },
      ...(managed && { loggingFormat: LoggingFormat.JSON }),
      ...(environment.functionsInVpc &&
        !managed && {
          vpc: storage.network.vpc,
          vpcSubnets: storage.network.subnets,
          securityGroups: [storage.network.clients],
        }),
    });
    this.storage = storage;
    if (managed && instances !== undefined) managed.run(this, instances);
    storage.tables.topology.grant(this, ...READ_TOPOLOGY);
    grantTableKey(this, storage.encryptionKey, 'read');
    if (!databaseUser) return;
    this.grantLogin(databaseUser);
    if (environment.access === 'data-api') {
      // Statements autocommit, so no other call of the Data API is needed.
      this.addToRolePolicy(
        new PolicyStatement({
          actions: ['rds-data:ExecuteStatement'],
          resources: storage.groups.map(({ address }) => address.clusterArn),
        }),
      );
    }
  }

  /** By token through proxies, or by secret: the owner has one for each group, other users one for all. */
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

  /** Allows writing the topology's items; `undefined`: all. */
  grantTopologyWrites(keys?: readonly string[]): void {
    const { topology } = this.storage.tables;
    if (keys) grantItems(this, topology, WRITE_TOPOLOGY, keys);
    else topology.grant(this, ...WRITE_TOPOLOGY);
    grantTableKey(this, this.storage.encryptionKey, 'write');
  }

  /** Allows sharing opened circuits with other instances: one item of the state table. */
  grantOpenCircuits(): void {
    grantItems(this, this.storage.tables.state, ['dynamodb:GetItem', 'dynamodb:UpdateItem'], [OPENINGS_KEY]);
    grantTableKey(this, this.storage.encryptionKey, 'write');
  }

  grantState(keys: readonly string[]): void {
    grantItems(this, this.storage.tables.state, STATE_ITEMS, keys);
    grantTableKey(this, this.storage.encryptionKey, 'write');
  }

  /** Allows scanning the state, which shows all of it. */
  grantStateScan(): void {
    this.storage.tables.state.grant(this, 'dynamodb:Scan');
  }

  /** Allows reading, making or forgetting keys, and names their table. */
  grantKeys(use: KeyUse): void {
    const { tables, rootKey, encryptionKey } = this.storage;
    grantItems(this, tables.keys, KEY_ACTIONS[use], KEY_ITEMS);
    // Forgotten subjects are found by a scan.
    if (use === 'forget') tables.keys.grant(this, 'dynamodb:Scan');
    grantTableKey(this, encryptionKey, use === 'read' ? 'read' : 'write');
    rootKey?.grantRead(this);
    this.addEnvironment(ENVIRONMENT_VARIABLES.keysTable, tables.keys.tableName);
    this.addEnvironment(ENVIRONMENT_VARIABLES.rootSecret, rootKey?.secretArn ?? NO_ROOT_KEY);
  }
}
