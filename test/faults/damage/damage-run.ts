import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import { UNSAFE_FLUSHING, type ClusterOptions } from '../../support/cluster.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { until } from '../../support/until.ts';
import { aftermathNotes, lossCheck } from '../aftermath.ts';
import { check, grouped, shareResult, sumOf, type Check, type FaultRun, type Share } from '../fault-run.ts';
import { BATCHES_AND_REPEATS } from '../load/cell-source.ts';
import { allWritten, outcomesLine, type Outcomes } from '../load/ledger.ts';
import { Stage } from '../stage.ts';
import { damageCells, type Readings } from './damaged-cells.ts';

const LEAST_CELLS = 3000;
const LEAST_CONFIRMED = 0.999;
const SKIPPED = 'SKIPPED: the full disk, for which this user may not mount a file system';

export const damageRun: FaultRun = {
  name: 'damage',
  promise:
    'A full disk loses no acknowledged write and keeps none from being taken; damaged pages and bodies are never read as something else',
  fault:
    "the disk of a group's writer full for some seconds; 5 pages of a table overwritten; bodies changed past the store",
  control: 'no buffer and unsafe flushing; page checksums made to fit; bodies without a checksum of their own',

  async run(world) {
    const { pages, fittedPages, bodies, plainBodies, deaths } = await damageCells(world);
    const real = await fillDisk(world, 'damage/full', { killAtOnce: false });
    world.say(real ? `the control: ${damageRun.control}` : SKIPPED);
    const unsafe = { bufferCopies: 0, readers: 0, extraArguments: UNSAFE_FLUSHING, killAtOnce: true };
    const control = real && (await fillDisk(world, 'damage/full-control', unsafe));
    return {
      checks: [
        readCheck('wrong reads of damaged pages', pages, fittedPages),
        readCheck('wrong reads of damaged bodies', bodies, plainBodies),
        ...(real && control ? diskChecks(real, control) : []),
      ],
      cells: pages.reads + bodies.reads + (real?.aftermath.acked ?? 0),
      notes: [
        `refused: of damaged pages ${pages.codes.join(', ')}; of damaged bodies ${bodies.codes.join(', ')}`,
        `servers that died of damaged pages: ${deaths}`,
        ...(real && control ? diskNotes(real, control) : [SKIPPED]),
      ],
    };
  },
};

function readCheck(what: string, real: Readings, control: Readings): Check {
  return check(
    {
      what,
      bar: '0, some refused',
      result: ({ wrong, reads, refused }) => `${shareResult({ wrong, of: reads })}, ${grouped(refused)} refused`,
      holds: ({ wrong, refused }) => wrong === 0 && refused > 0,
      fails: ({ wrong }) => wrong > 0,
    },
    real,
    control,
  );
}

function diskChecks(real: FullDisk, control: FullDisk): readonly Check[] {
  const bar = {
    what: 'writes confirmed while it was full',
    bar: `at least ${LEAST_CONFIRMED * 100} %, some buffered`,
    result: (outcomes: Outcomes): string =>
      `${(confirmed(outcomes) * 100).toFixed(2)} %, ${grouped(outcomes.buffered)} buffered`,
    holds: (outcomes: Outcomes): boolean => confirmed(outcomes) >= LEAST_CONFIRMED && outcomes.buffered > 0,
    fails: (outcomes: Outcomes): boolean => confirmed(outcomes) < LEAST_CONFIRMED,
  };
  return [
    lossCheck('acknowledged cells lost, other faults: a full disk', real.aftermath, control.aftermath, LEAST_CELLS),
    check(bar, real.whileFull, control.whileFull),
  ];
}

function diskNotes(real: FullDisk, control: FullDisk): readonly string[] {
  return [
    `while the disk was full, the server ${real.server}; ${outcomesLine(real.whileFull)}`,
    `buffers empty ${real.aftermath.drainSeconds.toFixed(1)} s after all servers ran again`,
    ...aftermathNotes(real.aftermath),
    `the control's ${outcomesLine(control.whileFull)}`,
  ];
}

function confirmed(outcomes: Outcomes): number {
  const all: Share = { wrong: outcomes.unavailable, of: sumOf(Object.values(outcomes)) };
  return all.of === 0 ? 0 : 1 - all.wrong / all.of;
}

const SHARDS = 24;
const WRITERS = 16;
const NODE = 'group-1-a';
const CELLS_BEFORE = 2000;
const MIB = 1024 * 1024;
const LEFT = 2 * MIB;
/** A log cannot grow for long in less space than this. */
const FULL = 64 * 1024;
const FULL_MS = 8000;
const RESTART_SECONDS = 1;
const PATIENCE_MS = 60_000;
const POLL_MS = 5;

type FullDisk = NonNullable<Awaited<ReturnType<typeof fillDisk>>>;

/**
 * Fills the disk of a group's writer under load, keeps it full for a while, and frees space again. Or kills the server
 * as soon as its disk is full, before it can flush anything. Returns undefined if no disk can be mounted.
 */
async function fillDisk(
  world: RunWorld,
  name: string,
  { killAtOnce, ...setting }: Partial<ClusterOptions> & { readonly killAtOnce: boolean },
) {
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
  // Nothing more fits, or the server died of it.
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

/** Kills the server, which may have died by itself. */
async function kill(servers: ShardGroups): Promise<void> {
  await servers.kill(NODE).catch(() => undefined);
}

const LARGE = 2048 * MIB;
/** Writers may use the disk between the check and the change. */
const TRIES = 20;

/**
 * Mounts a file system in memory on this folder, which can shrink and grow while in use. Returns undefined if this
 * process may not mount.
 */
function mountSmallDisk(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    mount('-t', 'tmpfs', '-o', `size=${LARGE},mode=700`, 'tmpfs', folder);
  } catch {
    return undefined;
  }
  // Also on a forced exit: nothing may stay mounted.
  const unmount = (): void => {
    process.off('exit', unmount);
    execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
  };
  process.on('exit', unmount);
  const resize = (bytes: number): void => mount('-o', `remount,size=${bytes}`, folder);
  return {
    /** The bytes that can still be written. */
    get free(): number {
      const { bsize, bfree } = statfsSync(folder);
      return bsize * bfree;
    },
    /** Leaves room for about this many more bytes. */
    leave(bytes: number): void {
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
