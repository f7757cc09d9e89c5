import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { queueStatus } from '../../../infra/local/control/status.ts';
import type { NodeStatus } from '../../../infra/local/mysql/node-status.ts';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import { dataFolder } from '../../../infra/local/folder/data-folder.ts';
import type { LocalStack } from '../../../infra/local/running/running-stack.ts';
import type { StackQueue } from '../../../infra/local/template/run-template.ts';
import { repeat } from '../../../shared/repeat.ts';
import { functionMetrics, logLines, takeMetrics, takeRequest } from './metrics.ts';
import type { MetricStore } from './metric-store.ts';

const EVERY_MS = 1000;
/** Of queues and servers, for which AWS has a value each minute. */
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
  const [results, requests] = [logLines(folder.metricLog), logLines(folder.requestLog)];
  const takeFunctions = functionMetrics(store);
  const quick = async (): Promise<void> => {
    for (const line of results()) takeMetrics(store, line);
    for (const line of requests()) takeRequest(store, apiId, line);
    takeFunctions(stack.functions.status(), Date.now());
  };
  const asked = async (): Promise<void> => {
    await Promise.all([
      takeQueues(store, stack.queues(), { url: stack.services.sqs.url, folder: folder.sqs }),
      takeServers(store, stack.groups),
    ]);
  };
  const failed = (error: unknown): never => {
    throw error;
  };
  await Promise.all([
    repeat({ turn: quick, everyMs: EVERY_MS, failed }, signal),
    repeat({ turn: asked, everyMs: ASK_EVERY_MS, failed }, signal),
  ]);
}

/** Measures queues as SQS does for CloudWatch: messages that can be received, and the age of the oldest one. */
async function takeQueues(
  store: Pick<MetricStore, 'add'>,
  queues: readonly StackQueue[],
  { url, folder }: { readonly url: string; readonly folder: string },
): Promise<void> {
  const sentAt = firstSent(folder);
  for (const { name, visible } of await queueStatus(queues, url)) {
    // No value while SQS is unavailable.
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
 * Measures servers as RDS does for CloudWatch: the connections of each, and the lag of a reader behind its writer.
 * Readers here replicate, while those of Aurora share the writer's storage. The causes of a lag differ, and the metric
 * is the same.
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
    const output = { connections: Number(connections?.['Value']) };
    if (role === 'writer') return output;
    const isMysql = engine.kind === 'mysql';
    const replica = await firstRow(connection, isMysql ? 'SHOW REPLICA STATUS' : 'SHOW SLAVE STATUS');
    const behind: unknown = replica?.[isMysql ? 'Seconds_Behind_Source' : 'Seconds_Behind_Master'];
    return typeof behind === 'number' ? { ...output, lagSeconds: behind } : output;
  } finally {
    clearTimeout(timer);
    connection.destroy();
  }
}

async function firstRow(connection: Connection, sql: string): Promise<RowDataPacket | undefined> {
  const [rows] = await connection.query<RowDataPacket[]>(sql);
  return rows[0];
}
