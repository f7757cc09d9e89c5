import type { PutResult, Role } from '../cell.ts';
import type { BreakerSettings, CircuitName } from '../sql/breaker.ts';
import type { SqlClient } from '../sql/client.ts';
import { SqlError } from '../sql/client.ts';
import { requireDatastore } from '../topology/groups.ts';
import type { SharedTrips } from '../topology/shared-trips.ts';
import type { GroupAddress, TopologySource } from '../topology/topology.ts';
import type { AdmissionSettings } from './admission.ts';
import { bufferOperations } from './buffer-operations.ts';
import { openContext } from './context.ts';
import type { BufferOperations, Datastore, GroupHealth, IndexOperations, NodeHealth } from './datastore.ts';
import { indexReads } from '../index/index-reads.ts';
import { cellReads } from './read-cells.ts';
import { logReads } from './read-log.ts';
import { cellWrites } from './write-cells.ts';

/** Something worth a metric or a log line. Never holds a cell's body. */
export type StoreEvent =
  | { readonly kind: 'put'; readonly datastore: string; readonly outcome: PutResult['outcome'] }
  /** A circuit breaker opened: found by this instance, or by another that told it. */
  | { readonly kind: 'circuit_opened'; readonly group: string; readonly role: Role; readonly found: 'here' | 'elsewhere' }
  | { readonly kind: 'primary_failed' | 'secondary_failed'; readonly group: string; readonly error: unknown }
  /** A shard takes none of its buffered writes: its primary refuses them, or it is closed. The other shards go on. */
  | { readonly kind: 'shard_refused'; readonly group: string; readonly datastore: string; readonly shard: number; readonly error: unknown }
  /** Two bodies may have been acknowledged for an address, and an operator has to say which: its shard takes no appends until then. */
  | { readonly kind: 'undecided'; readonly datastore: string; readonly shard: number; readonly row_key: string; readonly column_name: string; readonly ref_key: number }
  /** Index entries that a write could not keep; the repair makes them good. */
  | { readonly kind: 'index_missed'; readonly group: string; readonly error: unknown }
  /** An append met its own added id: the log's numbering was raced, which the lock row forbids. Expected never. */
  | { readonly kind: 'added_id_taken'; readonly datastore: string; readonly shard: number }
  | { readonly kind: 'topology_refreshed'; readonly datastore: string; readonly shard: number };

export interface DeploymentOptions {
  readonly topology: TopologySource;
  readonly connect: (group: GroupAddress) => SqlClient;
  /** Secondaries that take a copy of each write first: 0 to the number of groups less two. */
  readonly bufferCopies: number;
  /** Circuit breakers round the groups' roles; false: none. @default those of BREAKER_SETTINGS */
  readonly breakers?: Partial<BreakerSettings> | false;
  /** How many requests of a group may be under way at once; false: any number. @default ADMISSION_SETTINGS, for those left out */
  readonly admission?: Partial<AdmissionSettings> | false;
  /** Whether writes that come together share statements. @default true */
  readonly joinWrites?: boolean;
  /** How instances learn of each other's trips. @default they do not */
  readonly trips?: SharedTrips;
  /** @default nothing is reported */
  readonly report?: (event: StoreEvent) => void;
}

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
      if (!datastore) {
        datastore = {
          name,
          shards,
          ...cellWrites(context, name, shards),
          ...cellReads(context, name, shards),
          ...logReads(context, name, shards),
          ...bufferOperations(context, name),
          ...indexReads(context, name),
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
          const [writer, reader] = await Promise.all((['writer', 'reader'] as const).map((role) => probe(client, role, () => groups.circuit(group, role))));
          if (!writer || !reader) throw new Error('a role without an answer');
          return { group, writer, reader };
        }),
      );
    },
    close: () => groups.close(),
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
