import { join } from 'node:path';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import type { ClusterOptions } from '../../support/cluster.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { grouped } from '../../support/text-table.ts';
import { until } from '../../support/until.ts';
import type { Aftermath } from '../aftermath.ts';
import { BATCHES_AND_REPEATS } from '../load/cell-source.ts';
import { allWritten, type Outcomes } from '../load/ledger.ts';
import { Stage } from '../stage.ts';
import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';

export interface FullDiskSetting extends Partial<ClusterOptions> {
  /**
   * The server is killed as soon as its disk is full, before it can flush anything, not after it was full for a while.
   */
  readonly killAtOnce: boolean;
}

export interface FullDisk {
  readonly aftermath: Aftermath;
  /** Of the writes that began while the disk was full. */
  readonly whileFull: Outcomes;
  /** What the server did on its full disk. */
  readonly server: string;
}

const SHARDS = 24;
const WRITERS = 16;
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
export async function fillDisk(
  world: RunWorld,
  name: string,
  { killAtOnce, ...setting }: FullDiskSetting,
): Promise<FullDisk | undefined> {
  const { folder, seed, signal, say } = world;
  using disk = mountSmallDisk(join(folder, name, 'servers', 'groups', NODE));
  if (!disk) return undefined;
  const cluster = { shards: SHARDS, restartAfterSeconds: RESTART_SECONDS, ...setting };
  await using stage = await Stage.start(world, name, cluster);
  const { servers } = stage;
  await stage.drain();
  const writers = { writers: WRITERS, cells: BATCHES_AND_REPEATS };
  const before = await stage.load({ ...writers, seed: `${seed}/before` });
  await before.untilAcked(CELLS_BEFORE, PATIENCE_MS);
  disk.leave(LEFT);
  // Nothing more fits, or the server is gone for it.
  const patience = { pollMs: POLL_MS, patienceMs: PATIENCE_MS, signal };
  await until('the disk is full', () => disk.free < FULL || stateOf(servers) !== 'running', patience);
  if (killAtOnce) await kill(servers);
  say(`the disk of ${NODE} is full at ${grouped(before.acked)} cells`);
  const starting = stage.load({ ...writers, seed: `${seed}/full` });
  const { written: writtenBefore } = await before.stop();
  const full = await starting;
  await stage.wait(FULL_MS);
  const server = stateOf(servers) === 'running' ? 'still ran' : `was ${stateOf(servers)}`;
  if (stateOf(servers) !== 'down') await kill(servers);
  disk.grow();
  say(`after ${FULL_MS / 1000} s the server ${server}; it has room again, and starts again`);
  await stage.untilAllRun();
  const { written } = await full.stop();
  return { aftermath: await stage.inspect(allWritten([writtenBefore, written])), whileFull: written.outcomes, server };
}

function stateOf(servers: ShardGroups): string {
  return servers.status().find(({ node }) => node === NODE)?.state ?? 'unknown';
}

/** It may have died by itself in the meantime. */
async function kill(servers: ShardGroups): Promise<void> {
  await servers.kill(NODE).catch(() => undefined);
}

/** A file system of its own, in memory, that can be made smaller and larger while it is in use. */
export interface SmallDisk extends Disposable {
  /** Bytes that can still be written. */
  readonly free: number;
  /** From now on about so many bytes more can be written. */
  leave(bytes: number): void;
  /** Makes room. */
  grow(): void;
}

const LARGE = 2048 * MIB;
/** Whoever uses it may write between the look and the change. */
const TRIES = 20;

/** Mounts one on this folder. Undefined where this process has no right to. */
export function mountSmallDisk(folder: string): SmallDisk | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    mount('-t', 'tmpfs', '-o', `size=${LARGE},mode=700`, 'tmpfs', folder);
  } catch {
    return undefined;
  }
  // Also when the process is made to end at once: nothing may stay mounted.
  const unmount = (): void => {
    process.off('exit', unmount);
    execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
  };
  process.on('exit', unmount);
  const resize = (bytes: number): void => mount('-o', `remount,size=${bytes}`, folder);
  return {
    get free() {
      const { bsize, bfree } = statfsSync(folder);
      return bsize * bfree;
    },
    leave(bytes) {
      for (let left = TRIES; ; left -= 1) {
        const { bsize, blocks, bfree } = statfsSync(folder);
        try {
          return resize(bsize * (blocks - bfree) + bytes);
        } catch (error) {
          if (left === 0) throw error;
        }
      }
    },
    grow: () => resize(LARGE),
    [Symbol.dispose]: unmount,
  };
}

function mount(...args: readonly string[]): void {
  execFileSync('mount', args, { stdio: 'pipe' });
}
