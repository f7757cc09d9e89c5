import type { Role } from '../cell.ts';
import type { CircuitName } from '../sql/breaker.ts';
import { type SqlClient, SqlError } from '../sql/client.ts';
import { requireDatastore } from '../access/groups.ts';
import { bufferOperations } from './buffer-operations.ts';
import { openContext, type DeploymentOptions, type StoreContext } from '../access/context.ts';
import type { BufferOperations, Datastore, GroupHealth, IndexOperations, NodeHealth } from '../contract/datastore.ts';
import { indexLooks } from '../index/index-looks.ts';
import type { IndexesAsked } from '../index/live-index.ts';
import { entryReads } from '../index/read-entries.ts';
import { runCount } from '../index/run-count.ts';
import { runQuery } from '../index/run-query.ts';
import { indexStatus, indexStatuses } from '../index/status.ts';
import { digestReads } from './digest-log.ts';
import { cellReads } from './read-cells.ts';
import { logReads } from './read-log.ts';
import { whereShardsAre } from './where-shards-are.ts';
import { cellWrites } from './write-cells.ts';

/** Every datastore of an environment, over one set of connections. */
export interface Deployment {
  /** Throws `unknown_datastore`. */
  datastore(name: string): Promise<Datastore & BufferOperations & IndexOperations>;
  datastores(): Promise<readonly string[]>;
  /** Asks every group's writer and reader for a sign of life, side by side. */
  health(): Promise<readonly GroupHealth[]>;
  close(): Promise<void>;
}

export function openDeployment(options: DeploymentOptions): Deployment {
  const context = openContext(options);
  const { topology, groups } = context;
  const open = new Map<string, Datastore & BufferOperations & IndexOperations>();

  return {
    async datastore(name) {
      const { shards } = await requireDatastore(topology, name);
      let datastore = open.get(name);
      // Another number of shards: it was deleted and made again.
      if (datastore?.shards !== shards) {
        const indexes = indexReads(context, name);
        datastore = {
          name,
          shards,
          ...cellWrites(context, name, shards),
          ...bufferOperations(context, name),
          ...indexes,
          ...whereShardsAre(topology, {
            ...cellReads(context, name, shards),
            ...logReads(context, name, shards),
            ...digestReads(context, name, shards),
            ...indexes,
          }),
        };
        open.set(name, datastore);
      }
      return datastore;
    },
    datastores: () => topology.datastores(),
    async health() {
      const names = await groups.names();
      return Promise.all(
        names.map(async (group): Promise<GroupHealth> => {
          const client = await groups.client(group);
          const [writer, reader] = await Promise.all(
            (['writer', 'reader'] as const).map((role) => probe(client, role, () => groups.circuit(group, role))),
          );
          if (!writer || !reader) throw new Error('a role without an answer');
          return { group, writer, reader };
        }),
      );
    },
    close: () => groups.close(),
  };
}

/** The reads of a datastore's indexes. */
export function indexReads(
  context: StoreContext,
  datastore: string,
): Pick<Datastore, 'query' | 'count'> & IndexOperations {
  const asked: IndexesAsked = { topology: context.topology, datastore, looks: indexLooks(context.topology, datastore) };
  const reads = entryReads(datastore);
  return {
    query: (query) => runQuery(context, asked, reads, query),
    count: (query) => runCount(context, asked, query),
    indexes: () => indexStatuses(asked),
    index: (name) => indexStatus(asked, name),
  };
}

async function probe(client: SqlClient, role: Role, circuit: () => CircuitName): Promise<NodeHealth> {
  const start = performance.now();
  const served_by = client.abilities.readsFromReaders ? role : 'writer';
  const milliseconds = () => Math.round(performance.now() - start);
  try {
    await client.select({ sql: 'SELECT 1', parameters: [] }, role);
    return { state: 'up', served_by, milliseconds: milliseconds(), circuit: circuit() };
  } catch (error) {
    const message = error instanceof SqlError ? error.failure : 'unreachable';
    return { state: 'down', served_by, milliseconds: milliseconds(), circuit: circuit(), error: message };
  }
}
