import type { RDSDataClient } from '@aws-sdk/client-rds-data';
import type { SqlClient } from '../../shared/sql/client.ts';
import { DATA_API_BREAKERS, dataApiClient } from '../../shared/sql/data-api-client.ts';
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
import type { GroupAddress } from '../../shared/topology/topology.ts';
import { clusterArn } from '../../infra/local/arn.ts';
import { dataApiSdk } from './data-api-sdk.ts';
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

/** A group by its servers, and by the endpoints of its writer and a reader. @default the first two of them */
export function accessTo(
  { name, user, password }: Pick<GroupAccess, 'name' | 'user' | 'password'>,
  nodes: GroupAccess['nodes'],
  [writer = nodes[0], reader = nodes[1] ?? writer]: GroupAccess['nodes'] = [],
): GroupAccess {
  if (!writer || !reader) throw new Error(`${name} has no nodes`);
  const at = ({ host, port }: GroupAccess['writer']): GroupAccess['writer'] => ({ host, port });
  return {
    name,
    user,
    password,
    writer: at(writer),
    reader: at(reader),
    nodes: nodes.map(at),
    clusterArn: clusterArn(name),
    secret: `arn:aws:secretsmanager:us-east-1:000000000000:secret:${name}`,
    sharedStorage: false,
  };
}

/** The plain data from which a thread opens the store. */
export interface StoreAccess {
  readonly groups: readonly GroupAccess[];
  /** URL */
  readonly dynamo: string;
  readonly topologyTable: string;
  readonly stateTable: string;
  readonly bufferCopies: number;
  readonly datastore?: string;
  /**
   * URL of a module whose `wrap` wraps the client of a group, in every thread and process: it injects a fault, or
   * removes a feature for a control.
   */
  readonly wrap?: string;
  /** Other than a function has them: time limits, connections. */
  readonly sql?: MysqlSettings;
  /** URL of an RDS Data API over the groups, which is then the way to their writers. @default MySQL's own */
  readonly dataApi?: string;
  /** False: without circuit breakers and admission control, as a control. @default true */
  readonly isGuarded?: false;
}

export interface DatastoreAccess extends StoreAccess {
  readonly datastore: string;
}

/**
 * The export `wrap` of a module of `StoreAccess.wrap`. It reports each time it differs from the client if a caller
 * counts that.
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
  /** Wraps the client of a group. @default the client itself */
  readonly wrap?: (client: SqlClient) => SqlClient;
  readonly report?: (event: StoreEvent) => void;
  /** Called by the wrapper of the access each time it differs from the client. */
  readonly varied?: () => void;
}

/** Opens a datastore in this thread. */
export async function openStore(access: StoreAccess, options: OpenStoreOptions = {}): Promise<OpenStore> {
  const { connections = 8, wrap = (client) => client, report = () => undefined, varied = () => undefined } = options;
  const { datastore: name = DATASTORE, topologyTable, stateTable } = access;
  const between = access.wrap === undefined ? undefined : ((await import(access.wrap)) as { readonly wrap: Wrap }).wrap;
  const client = dynamoClient(access.dynamo);
  const sdk = dataApiSdk(access.dataApi);
  const connect = (group: string): SqlClient =>
    access.dataApi === undefined
      ? groupClient(access.groups, group, { connections, ...access.sql })
      : dataApiGroup(sdk, access.groups, group);
  const deployed: DeploymentOptions = {
    topology: dynamoTopology({ client, table: topologyTable }),
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

/** For statements outside of the measurement: they must be answered, however busy the machine is. */
export const PATIENT: MysqlSettings = { connectTimeoutMs: 30_000, acquireTimeoutMs: 60_000, queryTimeoutMs: 60_000 };

export function dataApiGroup(sdk: RDSDataClient, groups: readonly GroupAccess[], name: string): SqlClient {
  const { clusterArn, secret } = groupOf(groups, name);
  return dataApiClient(sdk, { resourceArn: clusterArn, secretArn: secret });
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
