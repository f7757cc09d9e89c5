import { setTimeout as sleep } from 'node:timers/promises';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import { untilAllRun } from '../kill/kills.ts';
import { countWaiting, someWaitSince, type BufferTables } from './buffer-tables.ts';
import { clock } from './latency.ts';

export interface Outage {
  readonly servers: ShardGroups;
  readonly group: string;
  readonly tables: BufferTables;
  /** Row keys that may wait for ever. */
  readonly except: () => readonly Uint8Array[];
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** One outage; moments in milliseconds since 1970. */
export interface Downtime {
  readonly downAt: number;
  /** The writer takes writes again. */
  readonly backAt: number;
  /** Nothing waits that was buffered before the writer was back. */
  readonly emptyAt: number;
  /** Rows that waited in the other groups just before the writer was started again. */
  readonly backlog: number;
}

/** Twice the bar of a whole outage: what takes longer has failed, and is not waited for. */
const PATIENCE_MS = 240_000;
const POLL_MS = 250;

/**
 * kill -9 of a group's writer, which stays down while something is done meanwhile, and is started again; waits until
 * the drain has brought over whatever was buffered.
 */
export async function takeDown({ servers, group, tables, except, signal, say }: Outage, meanwhile: () => Promise<void>): Promise<Downtime> {
  const writer = servers.status().find((node) => node.group === group && node.role === 'writer');
  if (!writer) throw new Error(`${group} has no writer`);
  const downAt = clock();
  await servers.kill(writer.node);
  say(`kill -9 of ${writer.node}, which stays down`);
  await meanwhile();
  const backlog = await countWaiting(tables, tables.groups.filter((name) => name !== group));
  const downSeconds = (clock() - downAt) / 1000;
  await servers.restart(writer.node);
  await untilAllRun(servers, signal);
  const backAt = clock();
  say(`${writer.node} is back after ${downSeconds.toFixed(0)} s, with ${backlog.toLocaleString('en-US')} rows in the buffer`);
  // Asked at once, the table would still be busy with whoever comes first.
  do await sleep(POLL_MS, undefined, { signal });
  while ((await someWaitSince(tables, backAt, except())) && clock() - backAt < PATIENCE_MS);
  const emptyAt = clock();
  say(`nothing of them waits any more after ${((emptyAt - backAt) / 1000).toFixed(1)} s`);
  return { downAt, backAt, emptyAt, backlog };
}
