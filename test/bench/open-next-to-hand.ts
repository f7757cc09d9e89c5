import { requireDatastore } from '../../shared/access/groups.ts';
import { type PhysicalIndex, maintainedIndexes } from '../../shared/index/index-table.ts';
import type { SqlClient } from '../../shared/sql/client.ts';
import type { DatastoreTopology } from '../../shared/topology/topology.ts';
import { createStore, startServers } from '../support/cluster.ts';
import { DATASTORE, openStore, type OpenStore, type StoreAccess } from '../support/store-access.ts';
import type { BenchWorld } from './bench.ts';
import { byHand, DRIVER_INDEX, type ByHand } from './by-hand.ts';
import { plainTables, type PlainTables } from './plain-tables.ts';

export const [GROUPS, SHARDS] = [3, 256];
/** Connections to each group's writer, of the store and by hand. */
export const CONNECTIONS = 8;

/** A store on servers started for it, with the code that it is compared with. */
interface StoreNextToHand extends AsyncDisposable {
  /** "MariaDB 10.11.6" */
  readonly engine: string;
  readonly access: StoreAccess;
  readonly store: OpenStore;
  readonly topology: DatastoreTopology;
  readonly index: PhysicalIndex;
  /** The store's own statements. */
  readonly hand: ByHand;
  /** The tables that a user would make instead. */
  readonly plain: PlainTables;
}

/** @param wrap stands between the store and its groups. */
export async function openNextToHand(
  { folder, engine: desired }: Pick<BenchWorld, 'folder' | 'engine'>,
  wrap: (client: SqlClient) => SqlClient = (client) => client,
): Promise<StoreNextToHand> {
  await using parts = new AsyncDisposableStack();
  const { servers, groups, engine } = await startServers({
    folder,
    engine: desired,
    groups: GROUPS,
    readers: 1,
    shards: SHARDS,
  });
  parts.defer(() => servers.stop());
  const { access } = parts.use(await createStore(groups, { shards: SHARDS, bufferCopies: 1, indexes: [DRIVER_INDEX] }));
  const store = parts.use(await openStore(access, { connections: CONNECTIONS, wrap }));
  const topology = await requireDatastore(store.context.topology, DATASTORE);
  const [index] = await maintainedIndexes(store.context.topology, DATASTORE);
  if (!index) throw new Error('wanted an index, got none');
  const hand = parts.use(byHand({ groups, topology, index, connections: CONNECTIONS }));
  const plain = parts.use(await plainTables({ groups, topology, field: 'driver_uuid' }));
  const kept = parts.move();
  return { engine, access, store, topology, index, hand, plain, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
