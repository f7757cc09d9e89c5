import { randomRowKey } from '../load/row-key.ts';
import { drainPass } from '../../../shared/drain/drain-pass.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { shardOf } from '../../../shared/shard.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import type { StoreContext } from '../../../shared/store/context.ts';
import { openJudge, type Judge } from './judge.ts';
import { bufferedRows, judgeEnd, logOf } from './judge-end.ts';
import type { PlantedBug } from './planted-bugs.ts';
import { runClients } from './world/clients.ts';
import { heal, planFaults } from './world/fault-plan.ts';
import { logFollower, type LogFollower } from './world/log-follower.ts';
import { logReader, type LogReader } from './world/log-reader.ts';
import { makeWorld, type World } from './world/world.ts';

/** What became of one seed. */
export interface SeedVerdict {
  /** Promises that did not hold. */
  readonly broken: readonly string[];
  /** What was still to be done when everything had been well for long. */
  readonly undone: readonly string[];
  readonly answers: Readonly<Record<string, number>>;
  /** Cells that promotions lost, cuts of logs that the follower met, statements that failed. */
  readonly counts: { readonly lostCells: number; readonly cuts: number; readonly failures: number };
}

/** Faults, and writes, come during this time. */
const FAULTY_MS = 10_000;
/** Everything has to be done so long after the last fault. */
const PATIENCE_MS = 90_000;
/** By then every statement that was late has arrived, and every one was given up. */
const ARRIVED_MS = 6500;
/** By then each that was not late was answered, or given up. */
const SETTLED_MS = 4500;
const DRAIN_EVERY_MS = 1200;
const READ_EVERY_MS = 700;

/** One simulation, and what is to be said of it. The same seed and number give the same one. */
export async function simulateSeed(seed: string, number: number, bug?: PlantedBug): Promise<SeedVerdict> {
  const world = makeWorld(seed, number, bug);
  return world.time.runUntil(simulate(world));
}

async function simulate(world: World): Promise<SeedVerdict> {
  const { chronicle, time } = world;
  const judge = openJudge(chronicle);
  const context = world.context('reading');
  // Started in calm weather, as a deployment is.
  const readers: Readers = { log: logReader(world, await world.datastore('reading'), context, judge), follower: await logFollower(world, context) };
  const draining = [world.context('draining'), world.context('draining')];
  await Promise.all([context, ...draining].map((each) => each.topology.groups()));

  planFaults(world, FAULTY_MS);
  const end = { isNear: false };
  const loops = Promise.all([keepReading(world, readers, end), ...draining.slice(0, world.random.chance(0.2) ? 2 : 1).map((each) => keepDraining(world, each, end))]);
  // Awaited in the end, whenever it fails.
  loops.catch(() => undefined);
  await runClients(world, judge, FAULTY_MS);
  if (time.now() < FAULTY_MS) await time.sleep(FAULTY_MS - time.now());
  // Statements that are still on their way arrive.
  await time.sleep(world.weather.late > 0 ? ARRIVED_MS : SETTLED_MS);
  heal(world);
  const undone = await untilDone(world, readers);
  undone.push(...(await writeOnce(world, judge)), ...(await untilDone(world, readers)));
  end.isNear = true;
  await loops;
  if (undone.length === 0) for (const what of [...judgeEnd(world), ...judgeReaders(world, readers)]) judge.breaks(what);
  const answers: Record<string, number> = {};
  for (const { result } of chronicle.answers) answers[result.outcome] = (answers[result.outcome] ?? 0) + 1;
  return { broken: judge.broken, undone, answers, counts: { ...chronicle.counts, cuts: readers.follower.cuts() } };
}

interface Readers {
  readonly log: LogReader;
  readonly follower: LogFollower;
}

async function keepReading({ time, random }: World, { log, follower }: Readers, end: { readonly isNear: boolean }): Promise<void> {
  while (!end.isNear) {
    await Promise.all([log.readOnce(), follower.followOnce()]);
    if (random.chance(0.02)) await follower.restart();
    await time.sleep(READ_EVERY_MS);
  }
}

/** As the scheduled function does, group by group side by side; a holder whose lease was lost may still be at it. */
async function keepDraining({ time, groups }: World, context: StoreContext, end: { readonly isNear: boolean }): Promise<void> {
  await Promise.all(
    [...groups.keys()].map(async (group) => {
      while (!end.isNear) {
        try {
          await drainPass(context, group, () => true, { pageRows: 20, appendsPerSecond: 1e6 });
        } catch (error) {
          if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
        }
        await time.sleep(DRAIN_EVERY_MS);
      }
    }),
  );
}

/** Waits until nothing waits any more. Says what does after all. */
async function untilDone(world: World, readers: Readers): Promise<string[]> {
  const { time } = world;
  const deadline = time.now() + PATIENCE_MS;
  for (;;) {
    const undone = whatIsUndone(world, readers);
    if (undone.length === 0 || time.now() > deadline) return undone;
    await time.sleep(500);
  }
}

function whatIsUndone(world: World, { log, follower }: Readers): string[] {
  const shards = Array.from({ length: world.shards }, (_, shard) => shard);
  const waiting = bufferedRows(world.groups).filter(({ state }) => state === 'waiting');
  if (waiting.length > 0) return [`${waiting.length} rows wait in the buffers`];
  return [
    ...[...world.groups.values()].filter((group) => !group.isCaughtUp()).map(({ name }) => `readers of ${name} are behind`),
    ...shards.filter((shard) => !isOpen(world, shard)).map((shard) => `shard ${shard} refuses every write`),
    ...shards.filter((shard) => logOf(world, shard).some((cell) => !follower.hasSeen(cell))).map((shard) => `the follower has not seen all of shard ${shard}`),
    ...shards.filter((shard) => !wasCut(world, shard) && log.seen(shard).length < logOf(world, shard).length).map((shard) => `the reader has not seen all of shard ${shard}`),
  ];
}

/** The row of a shard is of the epoch that the topology gives to those who write. */
function isOpen({ groups, topology }: World, shard: number): boolean {
  const { group: name, epoch } = topology.place(shard);
  const group = groups.get(name);
  const row = group?.nodes[group.writer]?.tables.shards.get(shard);
  return row?.epoch === epoch && row.state === 'open';
}

/** Everybody is well: a new cell of each shard has to be stored. */
async function writeOnce(world: World, judge: Judge): Promise<string[]> {
  const store = await world.datastore('writing');
  const failed: string[] = [];
  for (let shard = 0; shard < world.shards; shard += 1) {
    let row_key = randomRowKey(world.random);
    while (shardOf(row_key, world.shards) !== shard) row_key = randomRowKey(world.random);
    const cell = { row_key, column_name: 'LAST', ref_key: 1, body: shard };
    const result = await store.put(cell);
    judge.put(cell, result, [cell]);
    judge.read(cell, await store.get(cell), [result], undefined);
    if (result.outcome !== 'stored') failed.push(`a write of shard ${shard} was answered ${result.outcome} in the end`);
  }
  return failed;
}

/** A reader that went on from where it stopped has seen every cell, once, in order. One without fingerprints only where no cell was lost. */
function judgeReaders(world: World, { log }: Readers): string[] {
  return Array.from({ length: world.shards }, (_, shard) => shard).flatMap((shard) => {
    if (wasCut(world, shard)) return [];
    const stored = logOf(world, shard).map(({ added_id, address }) => `${added_id}/${address}`);
    const seen = log.seen(shard);
    return stored.length === seen.length && stored.every((name, place) => name === seen[place]) ? [] : [`a reader saw ${seen.length} cells of shard ${shard}, of ${stored.length}`];
  });
}

function wasCut({ chronicle }: World, shard: number): boolean {
  return chronicle.cutShards.has(shard);
}
