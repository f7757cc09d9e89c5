import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { queueStatus } from '../../../infra/local/control/status.ts';
import type { NodeStatus } from '../../../infra/local/mysql/node-status.ts';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import { dataFolder } from '../../../infra/local/folder/data-folder.ts';
import type { LocalStack } from '../../../infra/local/running/running-stack.ts';
import type { StackQueue } from '../../../infra/local/template/run-template.ts';
import { functionMetrics, logLines, takeFigures, takeRequest } from './figures.ts';
import type { MetricStore } from './metric-store.ts';

const EVERY_MS = 1000;
/** Queues and servers, of which AWS has a figure each minute. */
const ASK_EVERY_MS = 5000;
/** A server that does not answer within this time is not asked again this time. */
const ANSWER_MS = 2000;

interface Gathered {
  readonly stack: LocalStack;
  readonly data: string;
  /** By what the dimension of its metrics names it. */
  readonly apiId: string;
}

export async function gather(store: MetricStore, { stack, data, apiId }: Gathered, signal: AbortSignal): Promise<void> {
  const folder = dataFolder(data);
  const [figures, requests] = [logLines(folder.metricLog), logLines(folder.requestLog)];
  const takeFunctions = functionMetrics(store);
  const quick = async (): Promise<void> => {
    for (const line of figures()) takeFigures(store, line);
    for (const line of requests()) takeRequest(store, apiId, line);
    takeFunctions(stack.functions.status(), Date.now());
  };
  const asked = async (): Promise<void> => {
    await Promise.all([
      takeQueues(store, stack.queues(), { url: stack.services.sqs.url, folder: folder.sqs }),
      takeServers(store, stack.groups),
    ]);
  };
  await Promise.all([again(quick, EVERY_MS, signal), again(asked, ASK_EVERY_MS, signal)]);
}

async function again(work: () => Promise<void>, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await work();
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Looks at queues as SQS would for CloudWatch: what can be received, and how long the oldest message is there. */
async function takeQueues(
  store: Pick<MetricStore, 'add'>,
  queues: readonly StackQueue[],
  { url, folder }: { readonly url: string; readonly folder: string },
): Promise<void> {
  const sentAt = firstSent(folder);
  for (const { name, visible } of await queueStatus(queues, url)) {
    // While SQS is away it says nothing.
    if (visible === undefined) continue;
    const metric = { namespace: 'AWS/SQS', dimensions: { QueueName: name } };
    const at = Date.now();
    const age = Math.max(0, at - (sentAt.get(name) ?? at)) / 1000;
    store.add({ ...metric, name: 'ApproximateNumberOfMessagesVisible' }, at, visible);
    store.add({ ...metric, name: 'ApproximateAgeOfOldestMessage' }, at, age);
  }
}

/** When the oldest message of each queue was sent, by the emulator's own file: no call of SQS says it. */
function firstSent(folder: string): ReadonlyMap<string, number> {
  const database = new DatabaseSync(join(folder, 'fauxqs.db'), { readOnly: true });
  try {
    const rows = database
      .prepare('SELECT queue_name AS name, MIN(sent_timestamp) AS sent FROM sqs_messages GROUP BY queue_name')
      .all();
    return new Map(rows.map(({ name, sent }) => [String(name), Number(sent)]));
  } finally {
    database.close();
  }
}

/**
 * Looks at servers as RDS would for CloudWatch: how many connections each has, and how late a reader applies what its
 * writer did. The readers here replicate, those of Aurora share the writer's storage: how such a lag comes is another
 * matter, that the alarm hears of it is the same.
 */
async function takeServers(store: Pick<MetricStore, 'add'>, servers: ShardGroups): Promise<void> {
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
