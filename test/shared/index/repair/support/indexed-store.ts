import { randomUUID } from 'node:crypto';
import type { Json } from '../../../../../shared/cell.ts';
import type { IndexDefinition } from '../../../../../shared/definitions/definitions.ts';
import { indexTable, type PhysicalIndex } from '../../../../../shared/index/index-table.ts';
import { verifyIndex, type IndexProblem, type VerifyOptions } from '../../../../../shared/index/verify.ts';
import { committedOffsets } from '../../../../../shared/follow/follower-lag.ts';
import { migrate } from '../../../../../shared/migrate/migrate.ts';
import type { RepairEvent, RepairSettings } from '../../../../../shared/index/repair/repair-work.ts';
import { runRepair, type RepairRun } from '../../../../../shared/index/repair/run-repair.ts';
import type { SqlClient } from '../../../../../shared/sql/client.ts';
import type { StoreContext } from '../../../../../shared/access/context.ts';
import { dynamoTopology } from '../../../../../shared/topology/dynamo-topology.ts';
import { clientTo } from '../../../../support/connection-to.ts';
import { cellOf } from '../../../../support/datastore-conformance.ts';
import { indexOn } from '../../../../support/index-on.ts';
import { select } from '../../../../support/plain-sql.ts';
import { sharedTable } from '../../../../support/shared-table.ts';
import { until } from '../../../../support/until.ts';
import { sharedTrips } from '../../../../support/open-trips.ts';
import { PATIENT } from '../../../../support/store-access.ts';

export const DRIVERS: IndexDefinition = {
  name: 'drivers',
  fields: [
    { field: 'driver', type: 'UUID', column_key: 'BASE' },
    { field: 'city', type: 'string', column_key: 'BASE' },
    { field: 'is_done', type: 'boolean', column_key: 'STATUS' },
  ],
  keys: [],
};

export const CITIES = indexOn('cities', { city: 'string', driver: 'UUID' });

export type Wrap = (client: SqlClient, group: string) => SqlClient;

const QUICK: Partial<RepairSettings> = {
  behindMs: 100,
  pollMs: 100,
  versionsAgeMs: 100,
  afterCutMs: 200,
  commitEveryMs: 100,
  slowShardRestMs: 100,
};

export function changeable(first: Wrap = (client) => client) {
  const between = { now: first };
  const wrap: Wrap = (client, group) => ({
    ...client,
    change: (statement) => between.now(client, group).change(statement),
  });
  return { between, wrap };
}

type Run = Partial<Omit<RepairRun, 'settings'>> & {
  readonly settings?: Partial<RepairSettings>;
  readonly wrap?: Wrap;
};

/**
 * An indexed store that the tests of a file share, after which it is closed.
 *
 * @param wrap stands before what the writes do; the repair has clients of its own
 */
export async function sharedIndexed(
  shards: number,
  wrap: Wrap = (client) => client,
  indexes: readonly IndexDefinition[] = [DRIVERS],
) {
  const options = { indexes, bufferCopies: 0, wrap };
  const { store, trips, name: datastore, groupOf, clientOf: client } = await sharedTrips(shards, options);
  const stateTable = await sharedTable();
  const direct = (through: Wrap): StoreContext => ({
    ...store.context,
    topology: dynamoTopology(store.topologyTable),
    groups: { ...store.context.groups, client: async (group) => through(store.client(group), group) },
  });
  const plain = direct((client) => client);

  async function version(name: string, state = 'live'): Promise<PhysicalIndex | undefined> {
    const catalogue = (await dynamoTopology(store.topologyTable).indexes(datastore)).find((one) => one.name === name);
    const found = catalogue?.versions.find((one) => one.state === state);
    return found && { name, hash: found.hash, definition: found.definition };
  }

  async function live(name = DRIVERS.name): Promise<PhysicalIndex> {
    const found = await version(name);
    if (!found) throw new Error(`${name} is not live`);
    return found;
  }

  return {
    store,
    datastore,
    trips,
    stateTable,
    groupOf,
    client,
    version,
    live,
    /** Writes cells of BASE, all of which must be stored. */
    async write(cells: readonly { readonly row_key: string; readonly body: Json; readonly ref_key?: number }[]) {
      for (let start = 0; start < cells.length; start += 100) {
        const results = await trips.batchPut(
          cells.slice(start, start + 100).map(({ row_key, body, ref_key = 1 }) => cellOf({ row_key, ref_key, body })),
        );
        const failed = results.find(({ outcome }) => outcome !== 'stored');
        if (failed) throw new Error(JSON.stringify(failed));
      }
    },
    async deploy(desired: readonly IndexDefinition[]) {
      await migrate({
        topologyTable: store.topologyTable,
        connect: (address) => clientTo(address, PATIENT),
        desired: { groups: store.groups, datastores: [{ name: datastore, shards, indexes: desired, triggers: [] }] },
        mayGoOn: () => true,
      });
      store.topology.refresh();
    },
    async problems(name = DRIVERS.name, repair = false) {
      plain.topology.refresh();
      const { problems, failed } = await verifyIndex(plain, datastore, await live(name), { settleMs: 50, repair });
      for (const error of failed.values()) throw error;
      return problems;
    },
    verify: async (options: VerifyOptions) => verifyIndex(plain, datastore, await live(), { settleMs: 50, ...options }),
    repair({ settings, wrap: through = (one: SqlClient) => one, ...run }: Run = {}) {
      const events: RepairEvent[] = [];
      const stopping = new AbortController();
      const ended = runRepair({
        context: direct(through),
        topologyTable: store.topologyTable,
        stateTable,
        owner: randomUUID(),
        // Clock: never comes
        deadline: Date.now() + 3_600_000,
        signal: stopping.signal,
        heartbeat: { heartbeatMs: 100, silenceMs: 2000 },
        report: (event) => void events.push(event),
        settings: { ...QUICK, ...settings },
        ...run,
      });
      return {
        events,
        ended,
        async stop() {
          stopping.abort();
          await ended;
        },
      };
    },
    async countEntries(condition: string) {
      const index = await live();
      let sum = 0;
      for (let shard = 0; shard < shards; shard += 1) {
        const counting = `SELECT COUNT(*) FROM ${indexTable(datastore, shard, index)} WHERE ${condition}`;
        sum += Number((await select(client(shard), counting))[0]?.[0]);
      }
      return sum;
    },
    /** Comes back once a run has followed the logs to their ends, as they are now, and noted so. */
    async followed() {
      const heads = (await trips.heads()).map((head) => (head.error ? Number.NaN : head.head));
      await until('the logs are followed', async () => {
        const offsets = await committedOffsets(stateTable, { name: 'repair', datastore }, shards);
        return heads.every((head, shard) => (offsets[shard] ?? 0) >= head);
      });
    },
    async found(driver: string): Promise<readonly string[]> {
      const { entries } = await trips.query({ index: DRIVERS.name, where: { driver }, limit: 1000 });
      return entries.map(({ row_key }) => row_key);
    },
  };
}

export function countKinds(problems: readonly IndexProblem[]): Record<IndexProblem['kind'], number> {
  const count = (kind: IndexProblem['kind']): number => problems.filter((problem) => problem.kind === kind).length;
  return { missing: count('missing'), extra: count('extra'), wrong: count('wrong') };
}
