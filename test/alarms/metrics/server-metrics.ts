import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import type { NodeStatus } from '../../../infra/local/mysql/node-status.ts';
import type { MetricStore } from './metric-store.ts';

/** A server that does not answer within so long is not asked any more this time. */
const ANSWER_MS = 2000;

/**
 * Looks at servers as RDS would for CloudWatch: how many connections each has, and how late a reader applies what its
 * writer did. The readers here replicate, those of Aurora share the writer's storage: how such a lag comes is another
 * matter, that the alarm hears of it is the same.
 */
export async function takeServers(store: Pick<MetricStore, 'add'>, servers: ShardGroups): Promise<void> {
  await Promise.all(
    servers.status().map(async (node) => {
      const { connections, lagSeconds } = await askNode(servers, node).catch(() => NOTHING);
      const metric = { namespace: 'AWS/RDS', dimensions: { DBClusterIdentifier: node.group } };
      const at = Date.now();
      if (connections !== undefined) store.add({ ...metric, name: 'DatabaseConnections' }, at, connections);
      if (lagSeconds !== undefined) store.add({ ...metric, name: 'AuroraReplicaLagMaximum' }, at, lagSeconds * 1000);
    }),
  );
}

interface Said {
  readonly connections?: number;
  readonly lagSeconds?: number;
}

const NOTHING: Said = {};

async function askNode({ groups, engine }: ShardGroups, { group, host, port, role }: NodeStatus): Promise<Said> {
  const { user, password } = groups.find(({ name }) => name === group) ?? {};
  if (user === undefined || password === undefined) return NOTHING;
  const connection = await createConnection({ host, port, user, password, connectTimeout: ANSWER_MS });
  connection.on('error', () => undefined);
  const timer = setTimeout(() => connection.destroy(), ANSWER_MS);
  try {
    const connections = await firstRow(connection, "SHOW GLOBAL STATUS LIKE 'Threads_connected'");
    const said = { connections: Number(connections?.['Value']) };
    if (role === 'writer') return said;
    const isMysql = engine.kind === 'mysql';
    const replica = await firstRow(connection, isMysql ? 'SHOW REPLICA STATUS' : 'SHOW SLAVE STATUS');
    const behind: unknown = replica?.[isMysql ? 'Seconds_Behind_Source' : 'Seconds_Behind_Master'];
    return typeof behind === 'number' ? { ...said, lagSeconds: behind } : said;
  } finally {
    clearTimeout(timer);
    connection.destroy();
  }
}

async function firstRow(connection: Connection, sql: string): Promise<RowDataPacket | undefined> {
  const [rows] = await connection.query<RowDataPacket[]>(sql);
  return rows[0];
}
