import type { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction, type Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { environmentOf, type StoreVariable } from '../../shared/environment.ts';
import type { DatabaseUser } from '../../shared/topology/database-users.ts';
import { OPENINGS_KEY } from '../../shared/granted-names.ts';
import type { StoreEnvironment } from './store-environment.ts';
import { acknowledgeLambdaPolicies, acknowledgeTracing } from './evidence.ts';
import { functionLog } from './function-log.ts';
import { MACHINE, tracingOf } from './machine.ts';
import type { SchemalessStorage } from './storage.ts';
import { grantSecretKey, grantTableKey } from './key-uses.ts';
import { READ_TABLE, WRITE_TABLE } from './table-actions.ts';

export interface StoreFunctionProps {
  readonly environment: StoreEnvironment;
  readonly storage: SchemalessStorage;
  readonly code: Code;
  /** The export of the function's file. @default handler */
  readonly exportName?: string;
  readonly description: string;
  /** Who it is to MySQL. */
  readonly databaseUser: DatabaseUser;
  /** Whether it answers requests, one at a time, or loops. */
  readonly kind: 'request' | 'loop';
  /** Instances reserved for it, and at most. @default as many as the account allows */
  readonly instances?: number | undefined;
  readonly timeout: Duration;
  /** MiB; a function's share of a CPU grows with it, 1,769 is one whole. */
  readonly memorySize: number;
}

/**
 * A function that reaches the store: it reads the topology and the groups' secrets, connects to their clusters, and
 * may do nothing else until it is granted.
 */
export class StoreFunction extends LambdaFunction {
  private readonly storage: SchemalessStorage;

  constructor(scope: Construct, id: string, props: StoreFunctionProps) {
    const { environment, storage } = props;
    super(scope, id, {
      description: props.description,
      ...MACHINE,
      handler: `index.${props.exportName ?? 'handler'}`,
      code: props.code,
      timeout: props.timeout,
      memorySize: props.memorySize,
      logGroup: functionLog(scope, id, environment),
      // Whoever calls repeats; a schedule comes again in a minute. Lambda's own two retries would only run beside them.
      retryAttempts: 0,
      ...(props.instances !== undefined && { reservedConcurrentExecutions: props.instances }),
      tracing: tracingOf(environment),
      environment: environmentOf<StoreVariable>({
        environment: environment.name,
        topologyTable: storage.tables.topology.tableName,
        stateTable: storage.tables.state.tableName,
        bufferCopies: String(environment.bufferCopies),
        access: environment.access,
        databaseUser: props.databaseUser,
        databaseAuth: environment.databaseAuth,
        connections: String(environment.connections[props.kind]),
      }),
      ...(environment.functionsInVpc && {
        vpc: storage.network.vpc,
        vpcSubnets: storage.network.subnets,
        securityGroups: [storage.network.clients],
      }),
    });
    acknowledgeLambdaPolicies(this);
    acknowledgeTracing(this);
    this.storage = storage;
    storage.tables.topology.grant(this, ...READ_TABLE);
    grantTableKey(this, storage.encryptionKey, 'read');
    for (const { proxy, secrets } of storage.groups) {
      if (environment.databaseAuth === 'iam') proxy?.grantLogin(this, props.databaseUser);
      else secrets[props.databaseUser].grantRead(this);
    }
    if (environment.databaseAuth === 'secret') grantSecretKey(this, storage.encryptionKey);
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

  /** May write the topology: where shards are, which indexes there are. */
  grantTopologyWrites(): void {
    this.storage.tables.topology.grant(this, ...WRITE_TABLE);
    grantTableKey(this, this.storage.encryptionKey, 'write');
  }

  /** May tell other instances of circuits that opened, and hear of theirs: one item of the state table. */
  grantOpenCircuits(): void {
    this.addToRolePolicy(
      new PolicyStatement({
        actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
        resources: [this.storage.tables.state.tableArn],
        conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [OPENINGS_KEY] } },
      }),
    );
    grantTableKey(this, this.storage.encryptionKey, 'write');
  }

  /** May read and write leases and offsets. */
  grantState(): void {
    this.storage.tables.state.grant(this, ...READ_TABLE, ...WRITE_TABLE);
    grantTableKey(this, this.storage.encryptionKey, 'write');
  }
}
