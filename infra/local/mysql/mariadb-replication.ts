import { type Operator, textOf, WAIT_FOR_WRITES } from './operator.ts';
import { followUntilApplied, leaveForGood, type Replication, type ReplicationSource } from './replication.ts';

/**
 * A MariaDB transaction id is domain-server-sequence, and two diverged writers can reuse a sequence. A node therefore
 * gets a new server id whenever it becomes the writer or is rebuilt. All transactions of one server id then lie in one
 * history, and a log with the last of them has all.
 */
export const mariaDbReplication: Replication = {
  words: { replica: 'SLAVE', received: 'Gtid_IO_Pos', wait: 'MASTER_GTID_WAIT' },

  async executed(node) {
    return textOf(await node.run('SELECT @@global.gtid_binlog_state AS executed'), 'executed');
  },

  async includes(_node, whole, part) {
    const last = lastOfEachServer(whole);
    return [...lastOfEachServer(part)].every(([server, sequence]) => sequence <= (last.get(server) ?? 0));
  },

  size(executed) {
    return Math.max(0, ...lastOfEachServer(executed).values());
  },

  async follow(node, source) {
    await node.run(WAIT_FOR_WRITES);
    await node.run('SET GLOBAL read_only = ON');
    await setPosition(node);
    await pointTo(node, source);
    await node.run('START SLAVE');
  },

  async position(node) {
    return textOf(await node.run('SELECT @@global.gtid_binlog_pos AS logged'), 'logged');
  },

  async followUntil(node, source, position, timeoutSeconds) {
    await pointTo(node, source);
    await node.run('START SLAVE UNTIL master_gtid_pos = ?', [position]);
    await followUntilApplied(
      node,
      'SLAVE',
      timeoutSeconds,
      async (status) =>
        textOf(status, 'Slave_SQL_Running') === 'No' && (await mariaDbReplication.position(node)) === position,
    );
  },

  async open(node, serverId) {
    await leaveForGood(node, 'SLAVE');
    await node.run(`SET GLOBAL server_id = ${serverId}`);
    await node.run('SET GLOBAL read_only = OFF');
  },
};

async function pointTo(node: Operator, { host, port, user, password }: ReplicationSource): Promise<void> {
  await node.run(
    `CHANGE MASTER TO MASTER_HOST = ?, MASTER_PORT = ${port}, MASTER_USER = ?, MASTER_PASSWORD = ?,
      MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1`,
    [host, user, password],
  );
}

/** Continues from the end of the node's own log: `gtid_slave_pos` stands still while a node is the writer. */
async function setPosition(node: Operator): Promise<void> {
  const rows = await node.run('SELECT @@global.gtid_binlog_pos AS logged, @@global.gtid_slave_pos AS followed');
  const logged = textOf(rows, 'logged');
  if (logged !== '' && logged !== textOf(rows, 'followed')) await node.run('SET GLOBAL gtid_slave_pos = ?', [logged]);
}

/** Parses "0-1-100,0-4-130" to {"0-1": 100, "0-4": 130}. */
function lastOfEachServer(state: string): Map<string, number> {
  const last = new Map<string, number>();
  for (const transaction of state.split(',')) {
    const [, server, sequence] = /^\s*(\d+-\d+)-(\d+)\s*$/.exec(transaction) ?? [];
    if (server !== undefined) last.set(server, Math.max(last.get(server) ?? 0, Number(sequence)));
  }
  return last;
}
