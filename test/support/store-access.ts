import { RDSDataClient } from '@aws-sdk/client-rds-data';
import type { SqlClient } from '../../shared/sql/client.ts';
import { DATA_API_BREAKERS, dataApiClient, type DataApiSettings } from '../../shared/sql/data-api-client.ts';
import { guardWith } from '../../shared/sql/guarded-client.ts';
import { mysqlClient, type MysqlSettings } from '../../shared/sql/mysql-client.ts';
import {
  type DeploymentOptions,
  openContext,
  type StoreContext,
  type StoreEvent,
} from '../../shared/access/context.ts';
import { openDeployment, type StoredDatastore } from '../../shared/store/deployment.ts';
import type { DynamoTable } from '../../shared/dynamo/table.ts';
import { dynamoTopology } from '../../shared/topology/dynamo-topology.ts';
import type { GroupAddress, TopologySource } from '../../shared/topology/topology.ts';
import { dynamoClient } from './dynamo.ts';
import { withoutAdmission } from './without-admission.ts';
import { withoutBreakers } from './without-breakers.ts';
import { wrapped } from './wrapped-client.ts';

/** The datastore of every run. */
export const DATASTORE = 'trips';

export interface GroupAccess extends GroupAddress {
  readonly user: string;
  readonly password: string;
}

/** What a thread needs to open the store: plain data. */
export interface StoreAccess {
  readonly groups: readonly GroupAccess[];
  /** URL */
  readonly dynamo: string;
  readonly topologyTable: string;
  readonly stateTable: string;
  readonly bufferCopies: number;
  readonly datastore?: string;
  /**
   * URL of a module whose `wrap` stands between the store and a group, in every thread and process: a fault, or what a
   * control does without.
   */
  readonly wrap?: string;
  /** Other than a function has them: time limits, connections. */
  readonly sql?: MysqlSettings;
  /** URL of an RDS Data API over the groups, which is then the way to their writers. @default MySQL's own */
  readonly dataApi?: string;
  /** Other than a function has them there. */
  readonly dataApiSettings?: DataApiSettings;
  /** False: without circuit breakers and admission control, as a control. @default true */
  readonly isGuarded?: false;
}

export interface DatastoreAccess extends StoreAccess {
  readonly datastore: string;
}

/**
 * What a module of `StoreAccess.wrap` exports as `wrap`; it tells each time it does otherwise than the client where
 * somebody counts that.
 */
export type Wrap = (client: SqlClient, varied: () => void) => SqlClient;

export interface OpenStore extends AsyncDisposable {
  readonly name: string;
  readonly datastore: StoredDatastore;
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
}

export interface OpenStoreOptions {
  /** Connections to each endpoint. @default 8 */
  readonly connections?: number;
  /** Stands between the store and a group. @default the client itself */
  readonly wrap?: (client: SqlClient) => SqlClient;
  readonly report?: (event: StoreEvent) => void;
  /** Told by what stands between by the access's wish. */
  readonly varied?: () => void;
  /** Stands between the store and the topology's table. @default the topology itself */
  readonly topology?: (source: TopologySource) => TopologySource;
}

/** Opens a datastore in this thread. */
export async function openStore(access: StoreAccess, options: OpenStoreOptions = {}): Promise<OpenStore> {
  const { connections = 8, wrap = (client) => client, report = () => undefined, varied = () => undefined } = options;
  const { topology = (source) => source } = options;
  const { datastore: name = DATASTORE, topologyTable, stateTable } = access;
  const between = access.wrap === undefined ? undefined : ((await import(access.wrap)) as { readonly wrap: Wrap }).wrap;
  const client = dynamoClient(access.dynamo);
  const sdk = new RDSDataClient({
    ...(access.dataApi === undefined ? {} : { endpoint: access.dataApi }),
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  const connect = (group: string): SqlClient =>
    access.dataApi === undefined
      ? groupClient(access.groups, group, { connections, ...access.sql })
      : overDataApi(sdk, access, group);
  const deployed: DeploymentOptions = {
    topology: topology(dynamoTopology({ client, table: topologyTable })),
    connect: (group) => wrapped(connect(group.name), (through) => wrap(between?.(through, varied) ?? through)),
    bufferCopies: access.bufferCopies,
    ...(access.dataApi === undefined ? {} : { guard: guardWith(DATA_API_BREAKERS) }),
    ...(access.isGuarded === false ? { guard: withoutBreakers, admit: withoutAdmission } : {}),
    report,
  };
  const deployment = openDeployment(deployed);
  const context = openContext(deployed);
  return {
    name,
    datastore: await deployment.datastore(name),
    context,
    topologyTable: { client, table: topologyTable },
    stateTable: { client, table: stateTable },
    async [Symbol.asyncDispose]() {
      await Promise.all([deployment.close(), context.groups.close()]);
      client.destroy();
      sdk.destroy();
    },
  };
}

/** For statements that are no part of what is measured: however busy the machine is, they are to be answered. */
export const PATIENT: MysqlSettings = { connectTimeoutMs: 30_000, acquireTimeoutMs: 60_000, queryTimeoutMs: 60_000 };

function overDataApi(sdk: RDSDataClient, { groups, dataApiSettings = {} }: StoreAccess, name: string): SqlClient {
  const { clusterArn, secret } = groupOf(groups, name);
  return dataApiClient(sdk, { resourceArn: clusterArn, secretArn: secret }, dataApiSettings);
}

function groupOf(groups: readonly GroupAccess[], name: string): GroupAccess {
  const group = groups.find((one) => one.name === name);
  if (!group) throw new Error(`no group ${name}`);
  return group;
}

export function groupClient(groups: readonly GroupAccess[], name: string, settings: MysqlSettings = {}): SqlClient {
  const group = groupOf(groups, name);
  return mysqlClient(group, async () => ({ username: group.user, password: group.password }), settings);
}
