import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import type { NewCell } from '../../../shared/cell.ts';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { maintainedIndexes } from '../../../shared/index/index-table.ts';
import { requireDatastore } from '../../../shared/access/groups.ts';
import { startCluster } from '../../support/cluster.ts';
import { DATASTORE, openStore, type OpenStore, type StoreAccess } from '../../support/store-access.ts';
import { startDrain } from '../../support/workers/start-drain.ts';
import type { BenchWorld } from '../bench.ts';
import { fill } from '../../support/fill.ts';

/** A store with cells in it, whose buffer is drained as it is in a deployment. */
export interface FilledStore extends AsyncDisposable {
  readonly servers: ShardGroups;
  /** "MariaDB 10.11.6" */
  readonly engine: string;
  readonly access: StoreAccess;
  readonly store: OpenStore;
}

export interface FilledStoreOptions {
  readonly index: IndexDefinition;
  /** No address twice. */
  readonly cells: Iterable<NewCell>;
  /** Of the store opened here, to each group. */
  readonly connections: number;
}

export const GROUPS = 3;
export const SHARDS = 256;

/** The groups have no readers: their replication would take its share of a machine that the load is on, too. */
export async function startFilledStore(
  { folder, engine: wish, signal }: BenchWorld,
  { index, cells, connections }: FilledStoreOptions,
): Promise<FilledStore> {
  await using parts = new AsyncDisposableStack();
  const { servers, engine, access } = parts.use(
    await startCluster({
      folder,
      engine: wish,
      groups: GROUPS,
      readers: 0,
      shards: SHARDS,
      bufferCopies: 1,
      indexes: [index],
    }),
  );
  const store = parts.use(await openStore(access, { connections }));
  const { topology } = store.context;
  await fill({
    groups: access.groups,
    topology: await requireDatastore(topology, DATASTORE),
    indexes: await maintainedIndexes(topology, DATASTORE),
    cells,
    signal,
  });
  const drain = parts.use(startDrain({ access }));
  await drain.ready;
  const kept = parts.move();
  return { servers, engine, access, store, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
