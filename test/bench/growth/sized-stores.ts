import { maintainedIndexes } from '../../../shared/index/index-table.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import { requireDatastore } from '../../../shared/access/groups.ts';
import { createStore } from '../../support/cluster.ts';
import { DATASTORE, groupClient, PATIENT, type GroupAccess } from '../../support/store-access.ts';
import { dynamoClient } from '../../support/dynamo.ts';
import { fill } from '../../support/fill.ts';
import { DRIVER_INDEX, numberedTrips } from './numbered-trips.ts';

export interface StoreSize {
  readonly name: string;
  readonly shards: number;
  readonly cells: number;
}

export interface SizedStores extends AsyncDisposable {
  open(name: string): Promise<Datastore>;
  /** Puts the size's cells into it. */
  fill(size: StoreSize, signal: AbortSignal): Promise<void>;
}

const BUFFER_COPIES = 1;

/**
 * Makes several datastores, with an index each, side by side on the same groups. One of the sizes is that of
 * `DATASTORE`.
 */
export async function createSizedStores(
  groups: readonly GroupAccess[],
  sizes: readonly StoreSize[],
): Promise<SizedStores> {
  await using parts = new AsyncDisposableStack();
  const shards = sizes.find(({ name }) => name === DATASTORE)?.shards;
  if (shards === undefined)
    throw new Error(`sizes: wanted ${DATASTORE} among them, got ${sizes.map(({ name }) => name).join(', ')}`);
  const { access } = parts.use(
    await createStore(groups, { shards, bufferCopies: BUFFER_COPIES, indexes: [DRIVER_INDEX] }),
  );
  const topologyTable = { client: dynamoClient(access.dynamo), table: access.topologyTable };
  parts.defer(() => topologyTable.client.destroy());
  await migrate({
    topologyTable,
    connect: ({ name }) => groupClient(groups, name, PATIENT),
    wish: {
      groups: groups.map(({ user: _user, password: _password, ...address }) => address),
      datastores: sizes.map(({ name, shards: count }) => ({ name, shards: count, indexes: [DRIVER_INDEX] })),
    },
    bufferCopies: BUFFER_COPIES,
    mayGoOn: () => true,
  });
  const topology = dynamoTopology(topologyTable);
  const deployment = openDeployment({
    topology,
    connect: ({ name }) => groupClient(groups, name),
    bufferCopies: BUFFER_COPIES,
  });
  parts.defer(() => deployment.close());
  const kept = parts.move();
  return {
    open: (name) => deployment.datastore(name),
    fill: async ({ name, cells }, signal) =>
      fill({
        groups,
        topology: await requireDatastore(topology, name),
        indexes: await maintainedIndexes(topology, name),
        cells: numberedTrips(name, cells),
        signal,
      }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
