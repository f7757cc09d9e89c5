import { rowKeyIn } from '../row-keys.ts';
import { longAbsence } from './world/long-absence.ts';
import { bufferedRows, judgeEnd, logOf, openJudge, type Judge } from './judge.ts';
import type { PlantedBug } from './planted-bug.ts';
import { calmTrials } from './world/calm-trials.ts';
import { runClients } from './world/clients.ts';
import { duel } from './world/duels.ts';
import { keepDeciding } from './world/operator.ts';
import { scheduleDrains, type DrainPace } from './world/drain-runs.ts';
import { heal, planFaults } from './world/fault-plan.ts';
import { logFollower, type LogFollower } from './world/log-follower.ts';
import { logReader, type LogReader } from './world/log-reader.ts';
import { makeWorld, type World } from './world/world.ts';

interface SeedVerdict {
  /** The broken promises. */
  readonly broken: readonly string[];
  /** The work left after a long time without faults. */
  readonly undone: readonly string[];
  readonly answers: Readonly<Record<string, number>>;
  /** Cells lost by promotions, cuts of logs that the follower met, failed statements. */
  readonly counts: { readonly lostCells: number; readonly cuts: number; readonly failures: number };
}

/** The time in which faults and writes come. */
const FAULTY_MS = 10_000;
/**
 * All work must be done this long after the last fault: a drain may wait for its next run, which waits for requests to
 * have ended.
 */
const PATIENCE_MS = 180_000;
/** The time until every late statement has arrived, and every sender has given up. */
const ARRIVED_MS = 6500;
/** The time until every other statement was answered, or given up. */
const SETTLED_MS = 4500;
const READ_EVERY_MS = 700;
const SOON_MS = 20;
const READ_EVERY_IN_CALM_MS = 2000;
/** The share of seeds in which one group is unavailable for long: they take long to simulate. */
const LONG_SHARE = 0.008;
/** The rate of the drain in these, so low that few rows are many. */
const SLOW_PER_SECOND = 4;

/** Runs one simulation, and returns its verdict. The same seed and number give the same one. */
export async function simulateSeed(seed: string, number: number, bug?: PlantedBug): Promise<SeedVerdict> {
  const world = makeWorld(seed, number, bug);
  return world.time.runUntil(Promise.race([simulate(world), world.failure]));
}

async function simulate(world: World): Promise<SeedVerdict> {
  const { chronicle, time } = world;
  const judge = openJudge(chronicle);
  const { context, datastore } = world.start('reading');
  // Started before any fault, as a deployment is.
  const readers: Readers = {
    log: logReader(world, await datastore(), context, judge),
    follower: await logFollower(world, context, 'start'),
    late: undefined,
  };
  await context.topology.groups();
  const isLong = world.random.chance(LONG_SHARE);
  const pace: DrainPace = { appendsPerSecond: isLong ? SLOW_PER_SECOND : 1e6, isHasty: true };
  scheduleDrains(world, () => !isLong && time.now() < FAULTY_MS, pace);
  const end = { isNear: false };
  const loops = Promise.all([
    keepReading(world, readers, end),
    followLate(world, readers, end),
    keepDeciding(world, judge, end),
  ]);
  // Awaited in the end, whenever it fails.
  loops.catch(() => undefined);
  if (isLong) {
    for (const what of await longAbsence(world, judge)) judge.breaks(what);
  } else await faultyTimes(world, judge);
  Object.assign(pace, { appendsPerSecond: 1e6, isHasty: false });
  heal(world);
  const undone = await untilDone(world, readers);
  if (undone.length === 0) {
    await calmTrials(world, judge);
    undone.push(...(await untilDone(world, readers)));
  }
  undone.push(...(await writeOnce(world, judge)), ...(await untilDone(world, readers)));
  end.isNear = true;
  await loops;
  for (const instance of world.instances) instance.die();
  if (undone.length === 0) for (const what of [...judgeEnd(world), ...judgeReaders(world, readers)]) judge.breaks(what);
  const answers: Record<string, number> = {};
  for (const { result } of chronicle.answers) answers[result.outcome] = (answers[result.outcome] ?? 0) + 1;
  return { broken: judge.broken, undone, answers, counts: { ...chronicle.counts, cuts: readers.follower.cuts() } };
}

/** Runs faults and clients, until all that they sent has arrived or was given up. */
async function faultyTimes(world: World, judge: Judge): Promise<void> {
  const { time } = world;
  const duels = planFaults(world, FAULTY_MS).map(async ({ group, at, behindMs }) => {
    await time.sleep(at + world.random.between(0, behindMs));
    if (world.random.chance(0.4)) await duel(world, judge, group);
  });
  await Promise.all([runClients(world, judge, FAULTY_MS), ...duels]);
  if (time.now() < FAULTY_MS) await time.sleep(FAULTY_MS - time.now());
  // Statements that are still on their way arrive.
  await time.sleep(world.weather.late > 0 ? ARRIVED_MS : SETTLED_MS);
}

interface Readers {
  readonly log: LogReader;
  readonly follower: LogFollower;
  /** Begins with the cells that are written from then on. */
  late: LogFollower | undefined;
}

async function keepReading(
  { time, random, chronicle }: World,
  { log, follower }: Readers,
  end: { readonly isNear: boolean },
): Promise<void> {
  while (!end.isNear) {
    const [, isBusy] = await Promise.all([log.readOnce(), follower.followOnce()]);
    if (random.chance(0.02)) await follower.restart();
    const pause = time.sleep(pauseOf(time.now(), isBusy));
    // A log may show a hole just after a cell was written.
    await Promise.race([pause, chronicle.nextAppend().then(() => time.sleep(random.between(0, SOON_MS)))]);
    if (random.chance(0.6)) await log.readOnce();
    await pause;
  }
}

/** Returns a longer pause while little happens. */
function pauseOf(now: number, isBusy: boolean): number {
  return isBusy || now < FAULTY_MS + SETTLED_MS ? READ_EVERY_MS : READ_EVERY_IN_CALM_MS;
}

/** Follows cells from now on; its first worker dies young. */
async function followLate(world: World, readers: Readers, end: { readonly isNear: boolean }): Promise<void> {
  const { time, random } = world;
  if (random.chance(0.5)) return;
  await time.sleep(random.between(0, FAULTY_MS));
  const late = await logFollower(world, world.start('reading').context, 'now');
  readers.late = late;
  for (let pass = 0, dies = random.integer(1, 6); !end.isNear; pass += 1) {
    const isBusy = await late.followOnce();
    if (pass === dies || random.chance(0.02)) await late.restart();
    await time.sleep(pauseOf(time.now(), isBusy));
  }
}

/** Waits until nothing waits any more. Returns what still does. */
async function untilDone(world: World, readers: Readers): Promise<string[]> {
  const { time } = world;
  const deadline = time.now() + PATIENCE_MS;
  for (;;) {
    const undone = whatIsUndone(world, readers);
    if (undone.length === 0 || time.now() > deadline) return undone;
    await time.sleep(500);
  }
}

function whatIsUndone(world: World, { log, follower, late }: Readers): string[] {
  const shards = world.allShards;
  const unseenBy = (who: string, isUnseen: (shard: number) => boolean): string[] =>
    shards.filter(isUnseen).map((shard) => `${who} has not seen all of shard ${shard}`);
  const waiting = bufferedRows(world.groups).filter(({ state }) => state === 'waiting' || state === 'in_doubt');
  if (waiting.length > 0) return [`${waiting.length} rows wait in the buffers`];
  return [
    ...[...world.groups.values()]
      .filter((group) => !group.isCaughtUp())
      .map(({ name }) => `readers of ${name} are behind`),
    ...shards.filter((shard) => !isOpen(world, shard)).map((shard) => `shard ${shard} refuses every write`),
    ...unseenBy('the follower', (shard) => follower.missing(shard, logOf(world, shard)).length > 0),
    ...unseenBy(
      'a follower of what is written from now on',
      (shard) => (late?.missing(shard, logOf(world, shard)).length ?? 0) > 0,
    ),
    ...unseenBy('the reader', (shard) => !wasCut(world, shard) && log.seen(shard).length < logOf(world, shard).length),
  ];
}

/**
 * Returns whether a shard's row has the epoch that the topology gives to writers, and its writer has all earlier cells.
 */
function isOpen({ groups, topology }: World, shard: number): boolean {
  const { group: name, epoch } = topology.home(shard);
  const group = groups.get(name);
  const row = group?.nodes[group.writer]?.tables.shards.get(shard);
  return row?.epoch === epoch && row.state === 'open' && row.writerId === group?.writerId;
}

/** Checks that all is well: a new cell of each shard must be stored. */
async function writeOnce(world: World, judge: Judge): Promise<string[]> {
  const store = await world.start('writing').datastore();
  const failed: string[] = [];
  for (const shard of world.allShards) {
    const row_key = rowKeyIn(world.random, new Set([shard]), world.shards);
    const cell = { row_key, column_name: 'LAST', ref_key: 1, body: shard };
    const result = await store.put(cell);
    judge.put(cell, result);
    judge.read(cell, await store.get(cell), [result], undefined);
    if (result.outcome !== 'stored') failed.push(`a write of shard ${shard} was answered ${result.outcome} in the end`);
  }
  return failed;
}

/**
 * Checks that a reader that continued from its offset has seen every cell, once, in order. One without fingerprints is
 * judged only if no cell was lost.
 */
function judgeReaders(world: World, { log }: Readers): string[] {
  return world.allShards.flatMap((shard) => {
    if (wasCut(world, shard)) return [];
    const stored = logOf(world, shard).map(({ added_id, address }) => `${added_id}/${address}`);
    const seen = log.seen(shard);
    return stored.length === seen.length && stored.every((name, position) => name === seen[position])
      ? []
      : [`a reader saw ${seen.length} cells of shard ${shard}, of ${stored.length}`];
  });
}

function wasCut({ chronicle }: World, shard: number): boolean {
  return chronicle.cutShards.has(shard);
}
