import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type { Access } from '../../shared/environment.ts';
import {
  markSealed,
  type IndexDefinition,
  type RetentionRule,
  type SealedFields,
} from '../../shared/definitions/definitions.ts';
import { migrate } from '../../shared/migrate/migrate.ts';
import type { SqlClient } from '../../shared/sql/client.ts';
import { DATA_API_BREAKERS } from '../../shared/sql/data-api-client.ts';
import { guardWith } from '../../shared/sql/guarded-client.ts';
import type { MysqlSettings } from '../../shared/sql/mysql-client.ts';
import { openContext, type StoreContext, type StoreEvent } from '../../shared/access/context.ts';
import { openDeployment, type Deployment, type Seal } from '../../shared/store/deployment.ts';
import { dynamoTopology } from '../../shared/topology/dynamo-topology.ts';
import type { DynamoTable } from '../../shared/dynamo/table.ts';
import type { DeployedTrigger, GroupAddress, TopologySource } from '../../shared/topology/topology.ts';
import { dynamoClient, newTable } from './dynamo.ts';
import { dataApiSdk } from './data-api-sdk.ts';
import { dataApiGroup, groupClient, PATIENT } from './store-access.ts';
import { withoutBreakers } from './without-breakers.ts';
import { wrapped } from './wrapped-client.ts';

export interface RealStoreOptions {
  /** Shards of each datastore, by a name that is made unique. */
  readonly datastores: Readonly<Record<string, number>>;
  /** Indexes of each datastore, live from the start. */
  readonly indexes?: Readonly<Record<string, readonly IndexDefinition[]>>;
  /** How long cells of each datastore are kept. @default for good */
  readonly retention?: Readonly<Record<string, readonly RetentionRule[]>>;
  /** Sealed fields of each datastore. */
  readonly sealed?: Readonly<Record<string, readonly SealedFields[]>>;
  /** Triggers of each datastore. */
  readonly triggers?: Readonly<Record<string, readonly DeployedTrigger[]>>;
  /** @default 1 */
  readonly bufferCopies?: number;
  /** How groups are reached. @default the run's own way */
  readonly access?: Access;
  /**
   * Wraps the client of a group, to let it fail: without circuit breakers, which would keep failing for a while.
   * @default the client itself, behind circuit breakers
   */
  readonly wrap?: (client: SqlClient, group: string) => SqlClient;
  /** Receives each event, as `events` does. */
  readonly report?: (event: StoreEvent) => void;
}

export interface RealStore {
  readonly deployment: Deployment;
  readonly context: StoreContext;
  readonly topology: TopologySource;
  readonly topologyTable: DynamoTable;
  readonly groups: readonly GroupAddress[];
  readonly events: StoreEvent[];
  nameOf(datastore: string): string;
  /** Opens another deployment over the same topology, as another instance of a function does. Closed with the store. */
  open(seal?: Seal): Deployment;
  /** Returns an unwrapped client of a group. */
  client(group: string): SqlClient;
  close(): Promise<void>;
}

/** Opens a deployment over the run's servers, with its own datastores and topology. */
export async function openRealStore({
  datastores,
  indexes = {},
  sealed = {},
  triggers = {},
  retention = {},
  bufferCopies = 1,
  access,
  wrap,
  report,
}: RealStoreOptions): Promise<RealStore> {
  const servers = inject('servers');
  const overDataApi = (access ?? servers.access) === 'data-api';
  const suffix = randomBytes(4).toString('hex');
  const nameOf = (name: string): string => `${name}_${suffix}`;
  const dynamo = dynamoClient(servers.dynamo);
  const topologyTable = await newTable(dynamo);
  const sdk = dataApiSdk(servers.dataApi);
  const direct = new Map<string, SqlClient>();
  const connect = ({ name }: Pick<GroupAddress, 'name'>, settings: MysqlSettings): SqlClient =>
    overDataApi ? dataApiGroup(sdk, servers.groups, name) : groupClient(servers.groups, name, settings);
  const desired = {
    groups: servers.groups,
    datastores: Object.entries(datastores).map(([name, shards]) => ({
      name: nameOf(name),
      shards,
      ...(sealed[name] && { sealed: sealed[name] }),
      indexes: (indexes[name] ?? []).map((index) => (sealed[name] ? markSealed(index, sealed[name]) : index)),
      triggers: triggers[name] ?? [],
      ...(retention[name] && { retention: retention[name] }),
    })),
  };
  const patiently = (address: Pick<GroupAddress, 'name'>): SqlClient => connect(address, PATIENT);
  await migrate({ topologyTable, connect: patiently, desired, bufferCopies, mayGoOn: () => true });

  const topology = dynamoTopology(topologyTable);
  const events: StoreEvent[] = [];
  const options = {
    topology,
    connect: (address: GroupAddress) => {
      const client = connect(address, { connectTimeoutMs: 30_000 });
      return wrap ? wrapped(client, () => wrap(client, address.name)) : client;
    },
    bufferCopies,
    ...(wrap ? { guard: withoutBreakers } : overDataApi ? { guard: guardWith(DATA_API_BREAKERS) } : {}),
    report: (event: StoreEvent) => {
      events.push(event);
      report?.(event);
    },
  };
  const deployment = openDeployment(options);
  const others: Deployment[] = [];
  const context = openContext(options);
  return {
    deployment,
    context,
    topology,
    topologyTable,
    groups: servers.groups,
    events,
    nameOf,
    open(seal) {
      const another = openDeployment(options, seal);
      others.push(another);
      return another;
    },
    client(group) {
      const client = direct.get(group) ?? patiently({ name: group });
      direct.set(group, client);
      return client;
    },
    async close() {
      await Promise.all([
        deployment.close(),
        ...others.map((another) => another.close()),
        context.groups.close(),
        ...[...direct.values()].map((client) => client.close()),
      ]);
      dynamo.destroy();
      sdk.destroy();
    },
  };
}
