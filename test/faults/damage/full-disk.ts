import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import { inspect, type Aftermath } from '../aftermath.ts';
import { startCluster } from '../../support/cluster.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { DrainCounts } from '../../support/workers/drain-thread.ts';
import { untilAllRun } from '../kill/kills.ts';
import type { Mix } from '../load/cell-source.ts';
import { allWritten, type Outcomes } from '../load/ledger.ts';
import { startLoad, type Load } from '../load/start-load.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

export interface FullDiskSetting {
  readonly bufferCopies: number;
  readonly readers: number;
  readonly extraArguments: readonly string[];
  /** The server is killed as soon as its disk is full, before it can flush anything, not after it was full for a while. */
  readonly killAtOnce: boolean;
}

export interface FullDisk {
  readonly engine: string;
  readonly aftermath: Aftermath;
  /** Of the writes that began while the disk was full. */
  readonly whileFull: Outcomes;
  /** What the server did on its full disk. */
  readonly server: string;
}

const GROUPS = 3;
const SHARDS = 24;
const WRITERS = 16;
const MIX: Mix = { batchShare: 0.3, batchSize: 10, repeatShare: 0.05 };
/** The group's first node, whose disk it is. */
const NODE = 'group-1-a';
/** Acknowledged before the disk is made small. */
const CELLS_BEFORE = 2000;
const MIB = 1024 * 1024;
const LEFT = 2 * MIB;
/** A log cannot go on for long in what is less than that. */
const FULL = 64 * 1024;
const FULL_MS = 8000;
const RESTART_SECONDS = 1;
const PATIENCE_MS = 60_000;
const POLL_MS = 5;

/**
 * The disk of a group's writer fills up under writers, stays full for a while, and is given room again.
 *
 * @returns undefined where no file system can be mounted
 */
export async function fillDisk(world: RunWorld, part: string, setting: FullDiskSetting): Promise<FullDisk | undefined> {
  const { folder, engine, seed, history, signal, say } = world;
  using disk = mountSmallDisk(join(folder, part, 'servers', 'groups', NODE));
  if (!disk) return undefined;
  await using cluster = await startCluster({ ...setting, folder: join(folder, part), engine, groups: GROUPS, shards: SHARDS, restartAfterSeconds: RESTART_SECONDS });
  const { access, servers } = cluster;
  using drain = startWorker<StoreAccess, 'stop', DrainCounts, DrainCounts>(new URL('../../support/workers/drain-thread.ts', import.meta.url), access);
  const writers = { target: { kind: 'store', access }, writers: WRITERS, mix: MIX, run: `damage/${part}`, history } as const;
  using before = startLoad({ ...writers, seed: `${seed}/before` });
  await Promise.all([drain.ready, before.ready]);

  await fill(disk, before, servers, signal);
  if (setting.killAtOnce) await kill(servers);
  say(`${part}: the disk of ${NODE} is full at ${before.acked.toLocaleString('en-US')} cells`);
  using full = startLoad({ ...writers, seed: `${seed}/full` });
  const writtenBefore = await before.stop();
  await full.ready;
  await sleep(FULL_MS, undefined, { signal });
  const server = stateOf(servers) === 'running' ? 'still ran' : `was ${stateOf(servers)}`;
  if (stateOf(servers) !== 'down') await kill(servers);
  disk.grow();
  say(`${part}: after ${FULL_MS / 1000} s the server ${server}; it has room again, and starts again`);
  await untilAllRun(servers, signal);
  const writtenFull = await full.stop();

  await using store = await openStore(access);
  const aftermath = await inspect({ datastore: store.datastore, groups: access.groups, written: allWritten([writtenBefore, writtenFull]), signal });
  return { engine: cluster.engine, aftermath, whileFull: writtenFull.outcomes, server };
}

/** Until nothing more fits, or the server is gone for it. */
async function fill(disk: SmallDisk, load: Load, servers: ShardGroups, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  const until = async (isThere: () => boolean): Promise<void> => {
    while (!isThere()) {
      if (performance.now() > deadline) throw new Error(`the disk was not full within ${PATIENCE_MS / 1000} s: ${disk.free} bytes are free`);
      await sleep(POLL_MS, undefined, { signal });
    }
  };
  await until(() => load.acked >= CELLS_BEFORE);
  disk.leave(LEFT);
  await until(() => disk.free < FULL || stateOf(servers) !== 'running');
}

function stateOf(servers: ShardGroups): string {
  return servers.status().find(({ node }) => node === NODE)?.state ?? 'unknown';
}

/** It may have died by itself in the meantime. */
async function kill(servers: ShardGroups): Promise<void> {
  await servers.kill(NODE).catch(() => undefined);
}
