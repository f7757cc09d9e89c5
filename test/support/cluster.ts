import { join } from 'node:path';
import { startShardGroups, type ShardGroups } from '../../infra/local/mysql/shard-groups.ts';
import type { EngineKind } from '../../infra/setup/engine.mjs';
import type { IndexDefinition } from '../../shared/definitions/definitions.ts';
import { migrate } from '../../shared/migrate/migrate.ts';
import { dynamoClient, newTable, startDynamo } from './dynamo.ts';
import { accessTo, DATASTORE, groupClient, PATIENT, type DatastoreAccess, type GroupAccess } from './store-access.ts';

export interface ClusterOptions {
  /** Must be new for each cluster. */
  readonly folder: string;
  readonly engine: EngineKind | undefined;
  /** @default 3 */
  readonly groups?: number;
  /** So many of them are the store's at first: `grow` adds others. @default all */
  readonly groupsAtFirst?: number;
  /** Of each group. @default 1 */
  readonly readers?: number;
  readonly shards: number;
  /** @default 1 */
  readonly bufferCopies?: number;
  /** Of the datastore. */
  readonly indexes?: readonly IndexDefinition[];
  /**
   * Its groups are reached by their endpoints, which follow a promotion, and not straight: one event loop is between
   * then. @default false
   */
  readonly promotes?: boolean;
  /** @default 0: servers that die stay dead */
  readonly restartAfterSeconds?: number;
  readonly extraArguments?: readonly string[];
}

/** Datastores on groups, and the data to reach them from any thread. */
interface Stores extends AsyncDisposable {
  readonly access: DatastoreAccess;
  /** Adds groups, until the store has so many: shards stay where they are. */
  grow(count: number): Promise<void>;
  /** Makes another datastore, or brings the indexes of one to this. */
  define(datastore: string, indexes: readonly IndexDefinition[]): Promise<DatastoreAccess>;
}

/** Real servers with a datastore on them. */
export interface Cluster extends Stores {
  readonly servers: ShardGroups;
  /** "MariaDB 10.11.6" */
  readonly engine: string;
  readonly folder: string;
}

/** Settings under which an acknowledged commit is not on disk, to measure the value of durability. */
export const UNSAFE_FLUSHING: readonly string[] = [
  '--innodb-flush-log-at-trx-commit=0',
  '--sync-binlog=0',
  '--loose-innodb-log-writer-threads=OFF',
];

/** Starts fresh groups, and makes the datastore on them. Disposing it stops everything. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  await using parts = new AsyncDisposableStack();
  const { servers, groups, engine } = await startServers(options);
  parts.defer(() => servers.stop());
  const { access, define, grow } = parts.use(
    await createStore(options.promotes ? throughEndpoints(servers) : groups, options),
  );
  const kept = parts.move();
  return {
    servers,
    engine,
    folder: options.folder,
    access,
    define,
    grow,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Starts a DynamoDB, and makes the datastore on groups that run. Disposing it stops the DynamoDB. */
export async function createStore(
  groups: readonly GroupAccess[],
  {
    shards,
    bufferCopies = 1,
    indexes = [],
    groupsAtFirst = groups.length,
  }: Pick<ClusterOptions, 'shards' | 'bufferCopies' | 'indexes' | 'groupsAtFirst'>,
): Promise<Stores> {
  await using parts = new AsyncDisposableStack();
  const dynamo = await startDynamo();
  parts.defer(() => dynamo.stop());
  const client = dynamoClient(dynamo.url);
  parts.defer(async () => client.destroy());
  const [topologyTable, stateTable] = [await newTable(client), await newTable(client)];
  const access = {
    groups,
    dynamo: dynamo.url,
    topologyTable: topologyTable.table,
    stateTable: stateTable.table,
    bufferCopies,
  };
  let count = groupsAtFirst;
  const define = async (datastore: string, desired: readonly IndexDefinition[]): Promise<DatastoreAccess> => {
    const done = await migrate({
      topologyTable,
      connect: ({ name }) => groupClient(groups, name, PATIENT),
      desired: {
        groups: groups.slice(0, count).map(({ user: _user, password: _password, ...address }) => address),
        datastores: [{ name: datastore, shards, indexes: desired, triggers: [] }],
        isPart: true,
      },
      bufferCopies,
      mayGoOn: () => true,
    });
    if (!done) throw new Error(`${datastore} was not migrated`);
    return { ...access, datastore };
  };
  const ofDefault = await define(DATASTORE, indexes);
  const kept = parts.move();
  const grow = async (desired: number): Promise<void> => {
    count = desired;
    await define(DATASTORE, indexes);
  };
  return { access: ofDefault, define, grow, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Starts fresh groups alone. */
export async function startServers(
  options: ClusterOptions,
): Promise<Pick<Cluster, 'servers' | 'engine'> & { readonly groups: readonly GroupAccess[] }> {
  const servers = await startShardGroups({
    dataDir: join(options.folder, 'servers'),
    engine: options.engine,
    groups: Array.from({ length: options.groups ?? 3 }, (_, index) => ({
      name: `group-${index + 1}`,
      readers: options.readers ?? 1,
    })),
    restartAfterSeconds: options.restartAfterSeconds ?? 0,
    shards: options.shards,
    extraArguments: options.extraArguments ?? [],
    log: () => undefined,
  });
  // Straight to the servers, which keep their ports: the forwarders' one event loop would be the narrowest place.
  const groups = servers.groups.map((group) => accessTo(group, group.nodes));
  return { servers, groups, engine: engineName(servers.engine) };
}

export function engineName({ kind, version }: ShardGroups['engine']): string {
  return `${kind === 'mysql' ? 'MySQL' : 'MariaDB'} ${version}`;
}

/** Groups as their endpoints lead to them, which follow a promotion. */
export function throughEndpoints(servers: ShardGroups): readonly GroupAccess[] {
  return servers.groups.map((group) =>
    accessTo(group, group.instanceEndpoints, [group.writerEndpoint, group.readerEndpoint]),
  );
}
