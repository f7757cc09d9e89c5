import { afterAll } from 'vitest';
import type { Cell, CellAddress, Json, NewCell } from '../../shared/cell.ts';
import type { IndexDefinition } from '../../shared/definitions/definitions.ts';
import type { SqlClient } from '../../shared/sql/client.ts';
import type { StoredDatastore } from '../../shared/store/deployment.ts';
import { entityTable } from '../../shared/sql/names.ts';
import type { DeployedTrigger } from '../../shared/topology/topology.ts';
import { cellOf, rowsOfShard } from './datastore-conformance.ts';
import { openRealStore, type RealStore, type RealStoreOptions } from './real-store.ts';

/** A datastore of a test's own, on real servers. */
export interface OpenTrips extends AsyncDisposable {
  readonly store: RealStore;
  readonly trips: StoredDatastore;
  readonly name: string;
  /** The group that holds shard 0. */
  readonly primary: string;
  /** All groups but the primary. */
  readonly others: readonly string[];
  /** The first of the others, and an unwrapped client of it. */
  readonly hintHolder: string;
  readonly holder: SqlClient;
  groupOf(shard: number): string;
  /** Returns an unwrapped client of the group that owns a shard. */
  clientOf(shard: number): SqlClient;
  /** The shard's table of cells, as statements name it. */
  entity(shard: number): string;
  /** A new row key, whose row falls into the shard. */
  rowIn(shard: number): string;
  cellIn(shard: number, more?: Partial<NewCell>): NewCell;
  /** Undefined if the cell is not there. */
  bodyOf(cell: CellAddress): Promise<Json | undefined>;
  /** Returns the first page of the shard's log. */
  logOf(shard: number, after?: number): Promise<readonly Cell[]>;
}

interface OpenTripsOptions extends Omit<RealStoreOptions, 'datastores' | 'indexes' | 'triggers'> {
  /** Live from the start. */
  readonly indexes?: readonly IndexDefinition[];
  readonly triggers?: readonly DeployedTrigger[];
}

/** A datastore that the tests of a file share, after which it is closed. */
export async function sharedTrips(shards: number, options?: OpenTripsOptions): Promise<OpenTrips> {
  const opened = await openTrips(shards, options);
  afterAll(() => opened[Symbol.asyncDispose]());
  return opened;
}

export async function openTrips(
  shards: number,
  { indexes = [], triggers = [], ...options }: OpenTripsOptions = {},
): Promise<OpenTrips> {
  const store = await openRealStore({
    datastores: { trips: shards },
    indexes: { trips: indexes },
    triggers: { trips: triggers },
    ...options,
  });
  const name = store.nameOf('trips');
  const trips = await store.deployment.datastore(name);
  const homes = (await store.topology.datastore(name))?.homes ?? [];
  const groupOf = (shard: number): string => homes[shard]?.group ?? '';
  const others = store.groups.map((group) => group.name).filter((group) => group !== groupOf(0));
  const [hintHolder = ''] = others;
  const rowIn = (shard: number): string => rowsOfShard(shard, shards, 1)[0] ?? '';
  return {
    store,
    trips,
    name,
    primary: groupOf(0),
    others,
    hintHolder,
    get holder() {
      return store.client(hintHolder);
    },
    groupOf,
    clientOf: (shard) => store.client(groupOf(shard)),
    entity: (shard) => entityTable(name, shard),
    rowIn,
    cellIn: (shard, more) => cellOf({ row_key: rowIn(shard), ...more }),
    bodyOf: async (cell) => (await trips.get(cell)).cell?.body,
    async logOf(shard, after = 0) {
      const [log] = await trips.log([{ shard, after }], { limit: 1000 });
      if (!log || log.error) throw log?.error ?? new Error(`no log of shard ${shard}`);
      return log.cells;
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}
