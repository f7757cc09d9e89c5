import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import type { NodeRole, NodeStatus, ShardGroups } from '../../infra/local/mysql/shard-groups.ts';
import { comes } from './until.ts';

/** Within this servers come back on a slow machine, or never. */
const PATIENCE_MS = 600_000;

/** A group's writer as it is now, or its first reader. */
export function nodeOf(servers: Pick<ShardGroups, 'status'>, group: string, role: NodeRole = 'writer'): NodeStatus {
  const found = servers.status().find((node) => node.group === group && node.role === role);
  if (!found) throw new Error(`${group} has no ${role}`);
  return found;
}

/** kill -9 of a group's writer, or of its first reader. Returns the node's name. */
export async function killNode(
  servers: Pick<ShardGroups, 'status' | 'kill'>,
  group: string,
  role?: NodeRole,
): Promise<string> {
  const { node } = nodeOf(servers, group, role);
  await servers.kill(node);
  return node;
}

/** kill -9 of a group's writer, whose disk is gone with it. Returns the node's name. */
export async function killWithDisk(
  { servers, folder }: { readonly servers: ShardGroups; readonly folder: string },
  group: string,
): Promise<string> {
  const node = await killNode(servers, group);
  rmSync(join(folder, 'servers', 'groups', node, 'data'), { recursive: true });
  return node;
}

export interface WhoseServers {
  /** @default all */
  readonly groups?: readonly string[];
  readonly patienceMs?: number;
}

/** Waits until every server is back in its role. */
export async function untilAllRun(
  servers: Pick<ShardGroups, 'status'>,
  signal: AbortSignal,
  { groups, patienceMs = PATIENCE_MS }: WhoseServers = {},
): Promise<void> {
  const isBack = ({ group, state }: NodeStatus): boolean =>
    state === 'running' || (groups !== undefined && !groups.includes(group));
  if (await comes(() => servers.status().every(isBack), { patienceMs, signal })) return;
  throw new Error(`servers did not come back: ${JSON.stringify(servers.status())}`);
}

/** Stops or starts replication on some readers: the threads that receive, or those that apply. */
export async function replicate(
  { engine, groups }: ShardGroups,
  order: 'STOP' | 'START',
  thread: 'IO_THREAD' | 'SQL_THREAD',
  readers: readonly NodeStatus[],
): Promise<void> {
  await Promise.all(
    readers.map(async ({ group, host, port }) => {
      const { user, password } = groups.find(({ name }) => name === group) ?? {};
      const connection = await createConnection({
        host,
        port,
        ...(user !== undefined && { user }),
        ...(password !== undefined && { password }),
      });
      await connection.query(`${order} ${engine.kind === 'mysql' ? 'REPLICA' : 'SLAVE'} ${thread}`);
      await connection.end();
    }),
  );
}

/** A group's first reader gets nothing more from its writer. */
export async function stopReceiving(servers: ShardGroups, group: string): Promise<void> {
  await replicate(servers, 'STOP', 'IO_THREAD', [nodeOf(servers, group, 'reader')]);
}
