import { Random } from '../../support/random.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { grouped } from '../../support/text-table.ts';
import { untilBuffersEmpty } from '../aftermath.ts';
import type { Loaded } from '../load/load-thread.ts';
import { loseDisk } from '../lost-disk/lose-disk.ts';
import type { Stage } from '../stage.ts';
import { judge, judgeSamples, keptBodies, type SampleVerdicts, type Verdicts } from './verdicts.ts';

export interface ContendOptions {
  /** Also sets which addresses are raced for. */
  readonly part: string;
  /** @default the stage's */
  readonly access?: StoreAccess;
  /** Off where nothing drains. */
  readonly drained?: boolean;
  /** The race goes on until so many writes are answered. @default it ends with the fault */
  readonly answers?: number;
  /** What is done to the servers meanwhile. Returns when and of which shards cells may be away, if any. */
  readonly fault: (random: Random) => Promise<Away | undefined>;
  /** Runs what comes after the fault: the rest of the race, and the wait for the buffers. @default as it is */
  readonly settle?: (work: () => Promise<Loaded>) => Promise<Loaded>;
}

/**
 * From a time on (epoch milliseconds), until the buffers are empty, cells of these shards may be missing: they were on
 * a lost disk.
 */
export interface Away {
  readonly group: string;
  readonly since: number;
  readonly shards: ReadonlySet<number>;
}

export interface Contended {
  readonly verdicts: Verdicts;
  readonly samples: SampleVerdicts;
}

const THREADS = 3;
export const WRITERS = 12;
const PAUSE_MS = [800, 2000] as const;
const LAG_MS = 4000;
/** The race goes on for so long after the fault. */
const AFTERWARDS_MS = 2000;
const EMPTY_PATIENCE_MS = 60_000;

/**
 * Lets writers race for the same addresses while something fails, waits for the buffers, and holds what they were told
 * against what is there.
 */
export async function contend(stage: Stage, options: ContendOptions): Promise<Contended> {
  const { part, access = stage.access, drained = true, answers: least = 0, fault, settle = (work) => work() } = options;
  const { seed, say } = stage.world;
  const race = await stage.load({
    writers: WRITERS,
    threads: THREADS,
    cells: { contestedSince: Date.now() },
    looksBack: true,
    access,
    seed: `${seed} ${part}`,
    run: `conflicts/${part}`,
  });
  const away = await fault(new Random(seed, `faults ${part}`, 0));
  const { answers, samples } = await settle(async () => {
    await stage.wait(AFTERWARDS_MS);
    await stage.comes(() => race.answers >= least, {});
    const raced = await race.stop();
    if (drained) await untilDrained(stage);
    return raced;
  });
  say(`${part}: ${grouped(answers.length)} answers`);
  return {
    verdicts: judge(answers, await keptBodies(access.groups), away?.group),
    samples: judgeSamples(samples, (shard, at) => away !== undefined && at >= away.since && away.shards.has(shard)),
  };
}

async function untilDrained(stage: Stage): Promise<void> {
  const { rows } = await untilBuffersEmpty((await stage.open()).datastore, EMPTY_PATIENCE_MS, stage.world.signal);
  if (rows > 0) throw new Error(`${rows} writes are left in the buffer`);
}

/** Kills writers in turn over the groups; each comes back by itself. */
export async function killWriters(stage: Stage, count: number, random: Random): Promise<undefined> {
  for (let kill = 0; kill < count; kill += 1) {
    await stage.wait(random.between(...PAUSE_MS));
    stage.world.say(`kill -9 of ${await stage.kill(stage.groupInTurn(kill))}`);
    await stage.untilAllRun();
  }
  return undefined;
}

/** A group's writer is lost with its disk, and a reader without its last cells is promoted. The writers race on. */
export async function loseOneDisk(stage: Stage, group: string, random: Random): Promise<Away> {
  const { lostAt, cut } = await loseDisk(stage, { group, random, lagMs: LAG_MS });
  return { group, since: lostAt, shards: new Set(cut.keys()) };
}
