import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import { dynamoClient, newTable, startDynamo } from '../dynamo.ts';
import { startServers, type ClusterOptions } from '../cluster.ts';
import { groupClient, type GroupAccess } from '../store-access.ts';
import type { IndexedAccess } from './indexed-store.ts';

/** Real servers, for several datastores with indexes one after the other. */
export interface Stage extends AsyncDisposable {
  readonly servers: ShardGroups;
  /** "MariaDB 10.11.6" */
  readonly engine: string;
  readonly folder: string;
  /** Makes a datastore, or brings its indexes to this. */
  define(datastore: string, indexes: readonly IndexDefinition[]): Promise<IndexedAccess>;
}

export interface StageOptions extends ClusterOptions {
  /** Reach the groups by their endpoints, which follow a promotion, and not straight. */
  readonly promotes: boolean;
}

export async function startStage(options: StageOptions): Promise<Stage> {
  await using parts = new AsyncDisposableStack();
  const { servers, groups: direct, engine } = await startServers(options);
  parts.defer(() => servers.stop());
  const dynamo = await startDynamo();
  parts.defer(() => dynamo.stop());
  const client = dynamoClient(dynamo.url);
  parts.defer(async () => client.destroy());
  const [topologyTable, stateTable] = [await newTable(client), await newTable(client)];
  const groups = options.promotes ? throughEndpoints(servers) : direct;
  const access = { groups, dynamo: dynamo.url, topologyTable: topologyTable.table, stateTable: stateTable.table, bufferCopies: options.bufferCopies };
  const kept = parts.move();
  return {
    servers,
    engine,
    folder: options.folder,
    async define(datastore, indexes) {
      const done = await migrate({
        topologyTable,
        connect: ({ name }) => groupClient(groups, name, { queryTimeoutMs: 60_000 }),
        wish: { groups: groups.map(({ user: _user, password: _password, ...address }) => address), datastores: [{ name: datastore, shards: options.shards, indexes }] },
        bufferCopies: options.bufferCopies,
        mayGoOn: () => true,
      });
      if (!done) throw new Error(`${datastore} was not migrated`);
      return { ...access, datastore };
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Groups as their endpoints lead to them, which follow a promotion. */
export function throughEndpoints(servers: ShardGroups): readonly GroupAccess[] {
  const at = ({ host, port }: { readonly host: string; readonly port: number }) => ({ host, port });
  return servers.groups.map(({ name, user, password, writerEndpoint, readerEndpoint, instanceEndpoints }) => ({
    name, user, password, writer: at(writerEndpoint), reader: at(readerEndpoint), nodes: instanceEndpoints.map(at), clusterArn: '', secret: name, sharedStorage: false,
  }));
}
