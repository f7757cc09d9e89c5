import { join } from 'node:path';
import { clusterArn } from '../../infra/local/template/resources/cluster.ts';
import { startShardGroups, type ShardGroups } from '../../infra/local/mysql/shard-groups.ts';
import type { EngineKind } from '../../infra/setup/engine.mjs';
import type { IndexDefinition } from '../../shared/definitions/definitions.ts';
import { migrate } from '../../shared/migrate/migrate.ts';
import { dynamoClient, newTable, startDynamo } from './dynamo.ts';
import { DATASTORE, groupClient, type GroupAccess, type StoreAccess } from './store-access.ts';

export interface ClusterOptions {
  /** Must be new for each cluster. */
  readonly folder: string;
  readonly engine: EngineKind | undefined;
  readonly groups: number;
  /** Of each group. */
  readonly readers: number;
  readonly shards: number;
  readonly bufferCopies: number;
  /** Of the datastore. @default none */
  readonly indexes?: readonly IndexDefinition[];
  /** @default 0: servers that die stay dead */
  readonly restartAfterSeconds?: number;
  readonly extraArguments?: readonly string[];
}

/** Real servers with a datastore on them, and what it takes to reach it from any thread. */
export interface Cluster extends AsyncDisposable {
  readonly servers: ShardGroups;
  /** "MariaDB 10.11.6" */
  readonly engine: string;
  readonly access: StoreAccess;
}

/** Settings under which an acknowledged commit is not on disk: what durability is worth is measured with them. */
export const UNSAFE_FLUSHING: readonly string[] = ['--innodb-flush-log-at-trx-commit=0', '--sync-binlog=0', '--loose-innodb-log-writer-threads=OFF'];

/** Starts fresh groups, and makes the datastore on them. Disposing it stops everything. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const parts = new AsyncDisposableStack();
  try {
    const { servers, groups, engine } = await startServers(options);
    parts.defer(() => servers.stop());
    const store = parts.use(await createStore(groups, options));
    return { servers, engine, access: store.access, [Symbol.asyncDispose]: () => parts.disposeAsync() };
  } catch (error) {
    await parts.disposeAsync();
    throw error;
  }
}

/** Starts a DynamoDB, and makes the datastore on groups that run. Disposing it stops the DynamoDB. */
export async function createStore(groups: readonly GroupAccess[], { shards, bufferCopies, indexes = [] }: Pick<ClusterOptions, 'shards' | 'bufferCopies' | 'indexes'>): Promise<AsyncDisposable & { readonly access: StoreAccess }> {
  await using parts = new AsyncDisposableStack();
  const dynamo = await startDynamo();
  parts.defer(() => dynamo.stop());
  const client = dynamoClient(dynamo.url);
  parts.defer(async () => client.destroy());
  const [topologyTable, stateTable] = [await newTable(client), await newTable(client)];
  await migrate({
    topologyTable,
    connect: ({ name }) => groupClient(groups, name, { queryTimeoutMs: 60_000 }),
    wish: { groups: groups.map(({ user: _user, password: _password, ...address }) => address), datastores: [{ name: DATASTORE, shards, indexes }] },
    bufferCopies,
    mayGoOn: () => true,
  });
  const kept = parts.move();
  return {
    access: { groups, dynamo: dynamo.url, topologyTable: topologyTable.table, stateTable: stateTable.table, bufferCopies },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Starts fresh groups alone. */
export async function startServers(options: Omit<ClusterOptions, 'bufferCopies'>): Promise<{ readonly servers: ShardGroups; readonly groups: readonly GroupAccess[]; readonly engine: string }> {
  const servers = await startShardGroups({
    dataDir: join(options.folder, 'servers'),
    engine: options.engine,
    groups: Array.from({ length: options.groups }, (_, index) => ({ name: `group-${index + 1}`, readers: options.readers })),
    restartAfterSeconds: options.restartAfterSeconds ?? 0,
    shards: options.shards,
    extraArguments: options.extraArguments ?? [],
    log: () => undefined,
  });
  // Straight to the servers, which keep their ports: the forwarders' one event loop would be the narrowest place.
  const groups = servers.groups.map(({ name, user, password, nodes }) => {
    const addresses = nodes.map(({ host, port }) => ({ host, port }));
    const [writer, reader = writer] = addresses;
    if (!writer || !reader) throw new Error(`${name} has no nodes`);
    return { name, user, password, writer, reader, nodes: addresses, clusterArn: clusterArn(name), secret: `arn:aws:secretsmanager:us-east-1:000000000000:secret:${name}`, sharedStorage: false };
  });
  return { servers, groups, engine: engineName(servers.engine) };
}

export function engineName({ kind, version }: ShardGroups['engine']): string {
  return `${kind === 'mysql' ? 'MySQL' : 'MariaDB'} ${version}`;
}
