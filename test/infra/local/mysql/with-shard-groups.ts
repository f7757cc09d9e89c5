import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { processesNaming } from '../../../../infra/local/platform/process-table.ts';
import {
  type NodeStatus,
  type ShardGroup,
  type ShardGroups,
  type ShardGroupsOptions,
  startShardGroups,
} from '../../../../infra/local/mysql/shard-groups.ts';
import { until } from '../../../support/until.ts';
import { requestedEngine } from '../../../../infra/setup/engine.mjs';

/** Of real servers on a machine that may have much else to do. */
const STATEMENT_MS = 15_000;

interface Started {
  readonly dataDir: string;
  readonly groups: ShardGroups;
  readonly lines: string[];
}

/** Options for a small set of groups, on the engine that SCHEMALESS_ENGINE names. */
export function smallGroups(dataDir: string, more: Partial<ShardGroupsOptions> = {}): ShardGroupsOptions {
  return {
    dataDir,
    engine: requestedEngine([], process.env),
    groups: [{ name: 'group-1', readers: 1 }],
    restartAfterSeconds: 0,
    shards: 16,
    log: () => {},
    ...more,
  };
}

/** Starts groups on a folder of their own, and leaves neither process nor folder behind. */
export async function withShardGroups(
  more: Partial<ShardGroupsOptions>,
  work: (started: Started) => Promise<void>,
): Promise<void> {
  await withFolder(async (dataDir) => {
    const lines: string[] = [];
    const groups = await startShardGroups(smallGroups(dataDir, { ...more, log: (line) => lines.push(line) }));
    try {
      await work({ dataDir, groups, lines });
    } finally {
      await groups.stop();
    }
  });
}

/** A temporary folder; fails when a server on it outlives the work. */
export async function withFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'schemaless-test-')));
  try {
    await work(dataDir);
    const left = serversOn(dataDir);
    if (left.length > 0) throw new Error(`servers left behind: ${left.join(', ')}`);
  } finally {
    for (const pid of serversOn(dataDir)) process.kill(pid, 'SIGKILL');
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

/** The processes of the servers on this folder. */
export function serversOn(dataDir: string): readonly number[] {
  return processesNaming(`--datadir=${join(dataDir, 'groups', '/')}`);
}

/** Ends every server of a folder at once, as when a machine fails. */
export async function killServersOn(dataDir: string): Promise<void> {
  for (const pid of serversOn(dataDir)) process.kill(pid, 'SIGKILL');
  await until('all servers have ended', () => serversOn(dataDir).length === 0);
}

export async function settled(groups: ShardGroups): Promise<void> {
  await until('every node runs', () => groups.status().every(({ state }) => state === 'running'));
}

/** A connection of the application that stays, whatever becomes of it. */
export async function connectTo({ writerEndpoint, user, password }: ShardGroup): Promise<Connection> {
  const connection = await createConnection({ host: writerEndpoint.host, port: writerEndpoint.port, user, password });
  connection.on('error', () => {});
  return connection;
}

export function firstGroup(groups: ShardGroups): ShardGroup {
  const [group] = groups.groups;
  if (group === undefined) throw new Error('no group');
  return group;
}

export function nodeNamed(groups: ShardGroups, name: string): NodeStatus {
  const node = groups.status().find((one) => one.node === name);
  if (node === undefined) throw new Error(`no node ${name}`);
  return node;
}

/** Runs one statement as the application, on a new connection. */
export async function ask(
  group: ShardGroup,
  at: { readonly host: string; readonly port: number },
  sql: string,
  timeout = STATEMENT_MS,
): Promise<readonly RowDataPacket[]> {
  const connection = await createConnection({
    host: at.host,
    port: at.port,
    user: group.user,
    password: group.password,
    connectTimeout: STATEMENT_MS,
  });
  try {
    const [rows] = await connection.query<RowDataPacket[]>({ sql, timeout });
    return Array.isArray(rows) ? rows : [];
  } finally {
    connection.destroy();
  }
}

export async function eventuallyValue(
  group: ShardGroup,
  at: { readonly host: string; readonly port: number },
  sql: string,
  wanted: unknown,
): Promise<void> {
  await until(`${sql} = ${String(wanted)}`, async () => {
    const [row] = await ask(group, at, sql).catch(() => []);
    return Object.values(row ?? {})[0] === wanted;
  });
}
