import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../support/random.ts';
import { untilBuffersEmpty } from '../buffers.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { untilAllRun } from '../kill/kills.ts';
import { loseDisk } from '../lost-disk/lose-disk.ts';
import type { Stage } from '../../support/indexed/stage.ts';
import { openStore, PATIENT, type StoreAccess } from '../../support/store-access.ts';
import { keptBodies } from './kept-bodies.ts';
import { startRace } from './race.ts';
import type { Raced } from './racing-load.ts';
import { judge, judgeSamples, type SampleVerdicts, type Verdicts } from './verdicts.ts';

export interface ContendOptions {
  readonly stage: Stage;
  readonly access: StoreAccess;
  /** Also sets which addresses are raced for. */
  readonly part: string;
  readonly withdraws?: boolean;
  /** Off where nothing drains. */
  readonly drained?: boolean;
  /** The race goes on until so many writes are answered. @default it ends with the fault */
  readonly answers?: number;
  /** What is done to the servers meanwhile. Returns when and of which shards cells may be away, if any. */
  readonly fault: (random: Random) => Promise<Away | undefined>;
  /** Runs what comes after the fault: the rest of the race, and the wait for the buffers. @default as it is */
  readonly settle?: (work: () => Promise<Raced>) => Promise<Raced>;
}

/** From a time on (epoch milliseconds), until the buffers are empty, cells of these shards may be missing: they were on a lost disk. */
export interface Away {
  readonly group: string;
  readonly since: number;
  readonly shards: ReadonlySet<number>;
}

export interface Contended {
  readonly verdicts: Verdicts;
  readonly samples: SampleVerdicts;
}

const LEAST_PAUSE_MS = 800;
const MOST_PAUSE_MS = 2000;
/** The race goes on for so long after the fault. */
const AFTERWARDS_MS = 2000;
const POLL_MS = 50;
const EMPTY_PATIENCE_MS = 60_000;

/** Lets writers race while something fails, waits for the buffers, and holds what they were told against what is there. */
export async function contend({ seed, history, signal, say }: RunWorld, options: ContendOptions): Promise<Contended> {
  const { access, part, withdraws = true, drained = true, answers: least = 0, fault, settle = (work) => work() } = options;
  using race = startRace({ access, seed: `${seed} ${part}`, withdraws, run: `conflicts/${part}`, history });
  await race.ready;
  const away = await fault(new Random(seed, `faults ${part}`, 0));
  const { answers, samples } = await settle(async () => {
    await sleep(AFTERWARDS_MS, undefined, { signal });
    while (race.answers < least) await sleep(POLL_MS, undefined, { signal });
    const raced = await race.stop();
    if (drained) await untilDrained(access, signal);
    return raced;
  });
  const contended = {
    verdicts: judge(answers, await keptBodies(access.groups), away?.group),
    samples: judgeSamples(samples, (shard, at) => away !== undefined && at >= away.since && away.shards.has(shard)),
  };
  say(`${part}: ${answers.length.toLocaleString('en-US')} answers`);
  return contended;
}

async function untilDrained(access: StoreAccess, signal: AbortSignal): Promise<void> {
  await using store = await openStore({ ...access, sql: PATIENT });
  const { rows } = await untilBuffersEmpty(store.datastore, EMPTY_PATIENCE_MS, signal);
  if (rows > 0) throw new Error(`${rows} writes are left in the buffer`);
}

/** Kills writers in turn over the groups; each comes back by itself. */
export async function killWriters(stage: Stage, count: number, random: Random, { signal, say }: Pick<RunWorld, 'signal' | 'say'>): Promise<undefined> {
  const { servers } = stage;
  for (let kill = 0; kill < count; kill += 1) {
    await sleep(random.between(LEAST_PAUSE_MS, MOST_PAUSE_MS), undefined, { signal });
    const writer = servers.groups[kill % servers.groups.length]?.nodes.find(({ role }) => role === 'writer');
    if (!writer) throw new Error('a group without a writer');
    await servers.kill(writer.node);
    say(`kill -9 of ${writer.node}`);
    await untilAllRun(servers, signal);
  }
  return undefined;
}

const LAG_MS = 4000;

/** A group's writer is lost with its disk, and a reader without its last cells is promoted. The writers race on. */
export async function loseOneDisk(stage: Stage, access: StoreAccess, group: string, random: Random, { signal, say }: Pick<RunWorld, 'signal' | 'say'>): Promise<Away> {
  const { lostAt, cut } = await loseDisk({ stage, groups: access.groups, group, random, lagMs: LAG_MS, signal, say });
  return { group, since: lostAt, shards: new Set(cut.keys()) };
}
