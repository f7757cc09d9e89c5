import { type Operator, textOf, WAIT_FOR_WRITES } from './operator.ts';
import { followUntilApplied, leaveForGood, type Replication, type ReplicationSource } from './replication.ts';

const FOLLOW_ATTEMPTS = 3;

/** ER_BAD_REPLICA */
function isNotConfigured(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && error.errno === 1200;
}

/** A MySQL transaction id is server UUID and number; a rebuilt node has a new UUID. */
export const mySqlReplication: Replication = {
  words: { replica: 'REPLICA', received: 'Retrieved_Gtid_Set', wait: 'WAIT_FOR_EXECUTED_GTID_SET' },

  async executed(node) {
    return textOf(await node.run('SELECT @@global.gtid_executed AS executed'), 'executed').replaceAll(/\s/g, '');
  },

  async includes(node, whole, part) {
    return textOf(await node.run('SELECT GTID_SUBSET(?, ?) AS is_subset', [part, whole]), 'is_subset') === '1';
  },

  size(executed) {
    let count = 0;
    // `uuid:1-5:7,uuid:tag:1-3`: other parts are names.
    for (const range of executed.split(/[,:]/)) {
      const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(range.trim()) ?? [];
      if (first !== undefined) count += Number(last ?? first) - Number(first) + 1;
    }
    return count;
  },

  async follow(node, source) {
    for (let attempt = 1; ; attempt += 1) {
      await pointTo(node, source);
      await node.run(WAIT_FOR_WRITES);
      await node.run('SET GLOBAL super_read_only = ON');
      try {
        await node.run('START REPLICA');
        return;
      } catch (error) {
        // MySQL 9.7 sometimes forgets the source right after its start, once in some hundreds of starts.
        if (!isNotConfigured(error) || attempt === FOLLOW_ATTEMPTS) throw error;
      }
    }
  },

  position: (node) => mySqlReplication.executed(node),

  async followUntil(node, source, position, timeoutSeconds) {
    await pointTo(node, source);
    await node.run('START REPLICA UNTIL SQL_AFTER_GTIDS = ?', [position]);
    await followUntilApplied(node, 'REPLICA', timeoutSeconds, async (status) => {
      if (textOf(status, 'Replica_SQL_Running') !== 'No') return false;
      const executed = await mySqlReplication.executed(node);
      if (!(await mySqlReplication.includes(node, position, executed)))
        throw new Error(`wanted what was logged up to ${position}, got ${executed}`);
      return mySqlReplication.includes(node, executed, position);
    });
  },

  async open(node, serverId) {
    await leaveForGood(node, 'REPLICA');
    await node.run(`SET GLOBAL server_id = ${serverId}`);
    await node.run('SET GLOBAL super_read_only = OFF');
    await node.run('SET GLOBAL read_only = OFF');
  },
};

async function pointTo(node: Operator, { host, port, user, password }: ReplicationSource): Promise<void> {
  await node.run(
    `CHANGE REPLICATION SOURCE TO SOURCE_HOST = ?, SOURCE_PORT = ${port}, SOURCE_USER = ?, SOURCE_PASSWORD = ?,
      SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 0`,
    [host, user, password],
  );
}
