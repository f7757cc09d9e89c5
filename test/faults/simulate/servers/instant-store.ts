import { SqlError, UNBOUNDED, type SqlClient, type Statement, type Target } from '../../../../shared/sql/client.ts';
import { openDeployment } from '../../../../shared/store/deployment.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import type { BufferOperations } from '../../../../shared/api/buffer.ts';
import type { GroupAddress, TopologySource } from '../../../../shared/topology/topology.ts';
import { withoutAdmission } from '../../../support/without-admission.ts';
import { withoutBreakers } from '../../../support/without-breakers.ts';
import { groupAddress } from './memory-topology.ts';
import type { Execution } from './plan.ts';
import { planOf } from './plans.ts';
import { applyChange, emptyTables } from './tables.ts';

const SERVER_ID = 1;
const GROUPS = ['group-1', 'group-2', 'group-3'];

/** The real store over simulated servers that answer at once and never fail: thousands of them cost little. */
export function instantStore(name: string, shards: number): Promise<Datastore & BufferOperations> {
  const homes = Array.from({ length: shards }, (_, shard) => ({
    group: GROUPS[shard % GROUPS.length] ?? '',
    epoch: 1,
  }));
  const addresses = GROUPS.map(groupAddress);
  const topology: TopologySource = {
    datastore: async (wanted) => (wanted === name ? { datastore: name, shards, homes } : undefined),
    datastores: async () => [name],
    served: async () => [name],
    groups: async () => addresses,
    groupsNow: async () => addresses,
    indexes: async () => [],
    indexNow: async () => ({ versions: [], progress: undefined, mistyped: [] }),
    triggers: async () => [],
    refresh: () => undefined,
    renew: async () => undefined,
  };
  const connect = (address: GroupAddress): SqlClient =>
    instantClient(homes.flatMap(({ group }, shard) => (group === address.name ? [shard] : [])));
  return openDeployment({
    topology,
    connect,
    bufferCopies: 1,
    guard: withoutBreakers,
    admit: withoutAdmission,
  }).datastore(name);
}

/** A group of one server, which owns some shards. */
function instantClient(shards: readonly number[]): SqlClient {
  const tables = emptyTables();
  for (const shard of shards)
    applyChange(tables, { kind: 'shard', shard, row: { epoch: 1, state: 'open', writerId: SERVER_ID } });
  const executionOf = ({ parameters }: Statement): Execution => ({
    tables,
    parameters,
    now: Date.now() * 1000,
    serverId: SERVER_ID,
    isWritable: true,
    isHidden: () => false,
    flaws: {},
  });
  return {
    abilities: { readsFromReaders: false, survivesDiskLoss: true, bounds: UNBOUNDED },
    nodes: 1,
    async select(statement, _target: Target) {
      const { read } = planOf(statement.sql);
      if (!read) throw new SqlError('rejected', 'not a statement that returns rows');
      return read(executionOf(statement));
    },
    async change(statement) {
      const { write } = planOf(statement.sql);
      if (!write) throw new SqlError('rejected', 'not a statement that changes rows');
      const { affectedRows, insertId, changes } = write(executionOf(statement));
      for (const change of changes) applyChange(tables, change);
      return { affectedRows, insertId };
    },
    close: async () => undefined,
  };
}
