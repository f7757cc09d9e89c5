import { RDSDataClient } from '@aws-sdk/client-rds-data';
import type { SqlClient } from '../../shared/sql/client.ts';
import { DATA_API_BREAKERS, dataApiClient, type DataApiSettings } from '../../shared/sql/data-api-client.ts';
import { guardWith } from '../../shared/sql/guarded-client.ts';
import { mysqlClient, type MysqlSettings } from '../../shared/sql/mysql-client.ts';
import { type DeploymentOptions, openContext, type StoreContext, type StoreEvent } from '../../shared/access/context.ts';
import type { BufferOperations, Datastore } from '../../shared/contract/datastore.ts';
import { openDeployment } from '../../shared/store/deployment.ts';
import { dynamoTopology } from '../../shared/topology/dynamo-topology.ts';
import type { GroupAddress } from '../../shared/topology/topology.ts';
import { dynamoClient } from './dynamo.ts';
import { withoutAdmission } from './without-admission.ts';
import { withoutBreakers } from './without-breakers.ts';

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
  /** Other than a function has them: time limits, connections. */
  readonly sql?: MysqlSettings;
  /** URL of an RDS Data API over the groups, which is then the way to their writers. @default MySQL's own */
  readonly dataApi?: string;
  /** Other than a function has them there. */
  readonly dataApiSettings?: DataApiSettings;
  /** False: without circuit breakers and admission control, as a control. @default true */
  readonly isGuarded?: false;
}

export interface OpenStore extends AsyncDisposable {
  readonly datastore: Datastore & BufferOperations;
  readonly context: StoreContext;
}

export interface OpenStoreOptions {
  /** Connections to each endpoint. @default 8 */
  readonly connections?: number;
  /** Stands between the store and a group. @default the client itself */
  readonly wrap?: (client: SqlClient) => SqlClient;
  readonly report?: (event: StoreEvent) => void;
}

/** Opens the store in this thread. */
export async function openStore(access: StoreAccess, { connections = 8, wrap = (client) => client, report = () => undefined }: OpenStoreOptions = {}): Promise<OpenStore> {
  const client = dynamoClient(access.dynamo);
  const sdk = new RDSDataClient({ ...(access.dataApi === undefined ? {} : { endpoint: access.dataApi }), region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' }, maxAttempts: 1 });
  const connect = (name: string): SqlClient => (access.dataApi === undefined ? groupClient(access.groups, name, { connections, ...access.sql }) : overDataApi(sdk, access, name));
  const options: DeploymentOptions = {
    topology: dynamoTopology({ client, table: access.topologyTable }),
    connect: ({ name }) => wrap(connect(name)),
    bufferCopies: access.bufferCopies,
    ...(access.dataApi === undefined ? {} : { guard: guardWith(DATA_API_BREAKERS) }),
    ...(access.isGuarded === false ? { guard: withoutBreakers, admit: withoutAdmission } : {}),
    report,
  };
  const deployment = openDeployment(options);
  const context = openContext(options);
  return {
    datastore: await deployment.datastore(DATASTORE),
    context,
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

/** A client of one group. */
export function groupClient(groups: readonly GroupAccess[], name: string, settings: MysqlSettings = {}): SqlClient {
  const group = groupOf(groups, name);
  return mysqlClient(group, async () => ({ username: group.user, password: group.password }), settings);
}
