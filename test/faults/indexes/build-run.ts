import type { FieldValue } from '../../../shared/definitions/field-value.ts';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { followerLag } from '../../../shared/follow/follower-lag.ts';
import { forgetFollower } from '../../../shared/follow/rewind-follower.ts';
import type { PhysicalIndex } from '../../../shared/index/index-table.ts';
import { buildName } from '../../../shared/index/repair/build-follower.ts';
import { setIndexState } from '../../../shared/topology/index-catalogue.ts';
import { shardOf } from '../../../shared/address.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { inChunks } from '../../support/parallel.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { startProcess } from '../../support/processes/killable-process.ts';
import { openStore, type OpenStore } from '../../support/store-access.ts';
import { check, grouped, sumOf, type Check } from '../fault-run.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { resultOf, isClean, judge, liveIndexes, untilQuiet, type Judged } from './judge-indexes.ts';
import { DRIVER_INDEX, RacingCells, ZONE_INDEX, raceDrivers, raceRows } from './racing-cells.ts';
import { startRepair } from './race.ts';
import type { RaceInput, RaceProgress } from './race-process.ts';
import { AS_IT_IS } from './variation.ts';

const CELLS = Number(process.env['SCHEMALESS_FAULTS_CELLS'] ?? 100_000);
/** The share of the build at which the repair is killed. */
const KILLED_AT = 0.5;
const CONTROL_KILLED_AT = 0.3;
/** A crash repeats far less than this. */
const REPEATED_AT_MOST = 0.05;
const SETTINGS = { pollMs: 500 };
/** The writers during the build, which should have most of the machine. */
const WRITERS = { writers: [1, 2, 3, 4], pauseMs: 40, freshShare: 0.3 };
const BATCH = 100;
const VERSIONS = 3;
const LANES = 4;
const PATIENCE = { pollMs: 250, patienceMs: 600_000 };

export const buildRun = stagedRun({
  name: 'build',
  promise: 'An index added to a datastore with data answers once it is complete, and then with everything',
  fault: `an index is added to ${grouped(CELLS)} cells under writers; kill -9 of the repair in the middle of the build`,
  control: 'another index: its offsets forgotten when the repair is killed, and made live by hand',
  servers: { groups: 2, readers: 0, shards: 32, bufferCopies: 0 },
  async real(stage) {
    const filling = performance.now();
    const since = Date.now() - 3_600_000;
    await fill(stage, since);
    const seconds = ((performance.now() - filling) / 1000).toFixed(0);
    stage.say(`${grouped(CELLS)} cells written in ${seconds} s; adding ${DRIVER_INDEX.name}`);
    return await buildUnderWriters(stage, since);
  },
  without: buildBadly,
  judge: (real, control) => ({
    checks: checks(real, control),
    cells: CELLS + real.acked,
    notes: [
      `progress seen by queries: ${real.seen.map(percent).join(', ')}; live after ${real.liveSeconds.toFixed(0)} s`,
      `cells written meanwhile: ${grouped(real.acked)}`,
    ],
  }),
});

/** The result of a build, and its progress when the repair was killed and when the next one began, as shares. */
interface Built {
  readonly judged: Judged;
  readonly killed: number;
  readonly resumed: number;
  readonly early: number;
}

function checks(real: Built, control: Built): readonly Check[] {
  const entries = {
    what: 'entries once it is live',
    bar: '0, 0, 0',
    result: ({ judged }: Built): string => `${resultOf(judged)} of ${grouped(judged.entries)}`,
    holds: ({ judged, early }: Built): boolean => isClean(judged) && judged.entries > 0 && early === 0,
    fails: ({ judged }: Built): boolean => !isClean(judged),
  };
  const progress = {
    what: 'progress after the kill',
    bar: `at most ${percent(REPEATED_AT_MOST)} again`,
    result: ({ resumed, killed }: Built): string => `${percent(resumed)} after ${percent(killed)}`,
    holds: ({ resumed, killed }: Built): boolean => resumed >= killed - REPEATED_AT_MOST,
  };
  return [check(entries, real, control), check(progress, real, control)];
}

/** Writes about this many cells, in batches of a hundred, each to one shard: one append. */
async function fill(stage: Stage, since: number): Promise<void> {
  const { seed, signal } = stage.world;
  const { datastore } = await stage.open({ sql: {} });
  const source = new RacingCells(seed, 0, since);
  const random = new Random(seed, 'filled rows', 0);
  const fresh = Array.from({ length: Math.ceil(CELLS / VERSIONS) }, () => randomRowKey(random));
  const shardIn = (row: string): number => shardOf(row, datastore.shards);
  const rows = [...raceRows(seed), ...fresh].toSorted((one, other) => shardIn(one) - shardIn(other));
  const fillLane = async (some: readonly string[]): Promise<void> => {
    for (const part of inChunks(some, Math.floor(BATCH / VERSIONS))) {
      signal.throwIfAborted();
      const cells = part.flatMap((row) => Array.from({ length: VERSIONS }, () => source.of(row)));
      const refused = (await datastore.batchPut(cells)).find(({ outcome }) => outcome !== 'stored');
      if (refused) throw new Error(`a cell was answered ${refused.outcome} while the datastore was filled`);
    }
  };
  // Lanes are far from each other, so that none waits for another's lock on a shard.
  await Promise.all(inChunks(rows, Math.ceil(rows.length / LANES)).map(fillLane));
}

async function buildUnderWriters(stage: Stage, since: number) {
  const { access, cluster, world, say } = stage;
  const { seed, signal } = world;
  await using store = await openStore(access);
  const [value = ''] = raceDrivers(seed);
  const question: BuildQuestion = { index: DRIVER_INDEX.name, field: 'driver_partner_uuid', value };
  using writers = startProcess<RaceInput, RaceProgress>(new URL('race-process.ts', import.meta.url), cluster.folder, {
    access,
    seed,
    since,
    variation: AS_IT_IS,
    ...WRITERS,
  });
  using repair = await startRepair(stage, access, { settings: SETTINGS });
  await writers.ready;
  const start = performance.now();
  await cluster.define(access.datastore, [DRIVER_INDEX]);
  const index = await buildOf(store, DRIVER_INDEX);

  const seen: number[] = [];
  let early = 0;
  const until = async (share: number): Promise<void> => {
    const now = await untilSeen(store, question, (what) => what.isLive || what.share >= share, signal);
    // Before the build was killed, it cannot be complete.
    if (now.isLive && share < 1) early += 1;
    seen.push(now.share);
    say(`a query is answered: ${now.isLive ? 'live' : 'building'}, ${percent(now.share)}`);
  };
  for (const share of [0.1, 0.3, KILLED_AT]) await until(share);
  const { share: killed } = await ask(store, question);
  await repair.kill();
  const resumed = await resumedAt(store, index, repair, signal);
  say(`kill -9 of the repair at ${percent(killed)}; the next one begins at ${percent(resumed)}`);
  await until(0.8);
  await untilSeen(store, question, ({ isLive }) => isLive, signal);
  const liveSeconds = (performance.now() - start) / 1000;
  say(`live after ${liveSeconds.toFixed(0)} s`);

  await writers.stop();
  await untilQuiet(store, true, world);
  const judged = await judge(store, access.groups, await liveIndexes(store));
  await repair.stop();
  return { judged, killed, resumed, seen, early, liveSeconds, acked: writers.progress?.acked ?? 0 };
}

async function buildBadly(stage: Stage): Promise<Built> {
  const { access, cluster } = stage;
  const { signal } = stage.world;
  await using store = await openStore(access);
  using repair = await startRepair(stage, access, { settings: SETTINGS });
  await cluster.define(access.datastore, [DRIVER_INDEX, ZONE_INDEX]);
  const index = await buildOf(store, ZONE_INDEX);
  const question: BuildQuestion = { index: ZONE_INDEX.name, field: 'zone', value: 1 };
  const { share: killed } = await untilSeen(store, question, ({ share }) => share >= CONTROL_KILLED_AT, signal);
  await repair.kill();
  await forgetFollower(store.stateTable, { name: buildName(index), datastore: access.datastore });
  const resumed = await resumedAt(store, index, repair, signal);
  await repair.kill();
  const catalogue = { datastore: access.datastore, name: index.name };
  await setIndexState(store.topologyTable, catalogue, index.hash, 'building', 'live');
  const judged = await judge(store, access.groups, [index]);
  stage.say(
    `killed at ${percent(killed)}, the next one begins at ${percent(resumed)}; made live by hand: ${resultOf(judged)}`,
  );
  return { judged, killed, resumed, early: 0 };
}

async function buildOf({ context, name }: OpenStore, { name: wanted }: IndexDefinition): Promise<PhysicalIndex> {
  context.topology.refresh();
  const version = (await context.topology.indexes(name))
    .find((one) => one.name === wanted)
    ?.versions.find(({ state }) => state === 'building');
  if (!version) throw new Error(`${wanted} is not being built`);
  return { name: wanted, hash: version.hash, definition: version.definition };
}

interface BuildQuestion {
  readonly index: string;
  readonly field: string;
  readonly value: Exclude<FieldValue, null>;
}

/** A client's view of an index: whether it answers, and the progress of its build. */
interface Seen {
  readonly isLive: boolean;
  readonly share: number;
}

async function ask({ datastore, context }: OpenStore, { index, field, value }: BuildQuestion): Promise<Seen> {
  context.topology.refresh();
  try {
    await datastore.query({ index, where: { [field]: value } });
    return { isLive: true, share: 1 };
  } catch (error) {
    if (!(error instanceof SchemalessError) || error.code !== 'index_building') throw error;
    const { progress } = error.details.more as { readonly progress: { done: number; total: number } | null };
    return { isLive: false, share: progress && progress.total > 0 ? progress.done / progress.total : 0 };
  }
}

async function untilSeen(
  store: OpenStore,
  question: BuildQuestion,
  isWanted: (seen: Seen) => boolean,
  signal: AbortSignal,
): Promise<Seen> {
  const seen = await pollUntil(() => ask(store, question), isWanted, { ...PATIENCE, signal });
  if (isWanted(seen)) return seen;
  throw new Error(`${question.index} is still ${JSON.stringify(seen)} after ${PATIENCE.patienceMs / 1000} s`);
}

/**
 * Starts the next repair. Returns the progress at which it begins: by the offsets left to it, or its first own
 * progress, if less. Its first progress comes some seconds later, when it has built on from the offsets.
 */
async function resumedAt(
  { context, name, stateTable }: OpenStore,
  index: PhysicalIndex,
  repair: { start(): Promise<void> },
  signal: AbortSignal,
): Promise<number> {
  const lag = await followerLag(stateTable, context, { name: buildName(index), datastore: name });
  const left = sumOf(lag.map(({ offset = 0 }) => offset)) / Math.max(1, sumOf(lag.map(({ head = 0 }) => head)));
  const moment = new Date().toISOString();
  await repair.start();
  // Nothing is less, and a control that waited for its progress would have built most of the index by then.
  if (left === 0) return left;
  const poll = async () => {
    context.topology.refresh();
    return (await context.topology.indexNow(name, index.name)).progress;
  };
  const isSince = (progress: Awaited<ReturnType<typeof poll>>): boolean => (progress?.at ?? '') > moment;
  const progress = await pollUntil(poll, isSince, { ...PATIENCE, signal });
  if (!progress || !isSince(progress)) throw new Error(`no repair wrote the progress of ${index.name}`);
  const build = progress.builds[index.hash];
  return Math.min(left, build && build.total > 0 ? build.done / build.total : build ? 0 : 1);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
