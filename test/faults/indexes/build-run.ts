import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { forgetFollower } from '../../../shared/follow/rewind-follower.ts';
import type { PhysicalIndex } from '../../../shared/index/index-table.ts';
import { buildName } from '../../../shared/index/repair/build-follower.ts';
import type { RepairSettings } from '../../../shared/index/repair/settings.ts';
import { setIndexState } from '../../../shared/topology/index-catalogue.ts';
import { check, grouped, type Check, type FaultRun } from '../fault-run.ts';
import { figureOf, isClean, judge, liveIndexes, untilQuiet, type Judged } from './problems.ts';
import { openStore, type OpenStore } from '../../support/store-access.ts';
import { startProcess } from '../../support/processes/killable-process.ts';
import { DRIVER_INDEX, ZONE_INDEX } from './race-definitions.ts';
import { startRepair } from './race.ts';
import { Stage } from '../stage.ts';
import { fill, TripSource } from './fill.ts';
import { ask, firstShareSince, percent, shareOf, untilSeen, type BuildQuestion } from './watch-build.ts';
import type { WriteInput, WriteProgress } from './write-process.ts';

const CLUSTER = { groups: 2, readers: 0, shards: 32, bufferCopies: 0 };
const CELLS = 100_000;
/** How far the build is when the repair is killed. */
const KILLED_AT = 0.5;
const CONTROL_KILLED_AT = 0.3;
/** What a crash lets happen twice is far less. */
const REPEATED_AT_MOST = 0.05;
/** A progress that is told more often. */
const SETTINGS: Partial<RepairSettings> = { lookMs: 500 };
/** Rows that the writers beside the build know. */
const KNOWN_ROWS = 5000;

export const buildRun: FaultRun = {
  name: 'build',
  promise: 'An index added to a datastore with data answers once it is complete, and then with everything',
  fault: `an index is added to ${grouped(CELLS)} cells under writers; kill -9 of the repair in the middle of the build`,
  control: 'another index: its offsets forgotten when the repair is killed, and made live by hand',

  async run(world) {
    const { seed, signal, say } = world;
    const cells = Number(process.env['SCHEMALESS_FAULTS_CELLS'] ?? CELLS);
    await using stage = await Stage.start(world, 'build', CLUSTER);
    const store = await stage.open({ sql: {} });
    const filling = performance.now();
    const rows = await fill(store, cells, seed, signal);
    say(
      `${grouped(cells)} cells written in ${((performance.now() - filling) / 1000).toFixed(0)} s; adding ${DRIVER_INDEX.name}`,
    );

    const real = await buildUnderWriters(stage, rows);
    say(`the control: ${buildRun.control}`);
    const control = await buildBadly(stage);
    return {
      checks: checks(real, control),
      cells: cells + real.acked,
      engine: stage.engine,
      notes: [
        `progress seen by queries: ${real.seen.map(percent).join(', ')}; live after ${real.liveSeconds.toFixed(0)} s`,
        `cells written meanwhile: ${grouped(real.acked)}`,
      ],
    };
  },
};

/** What a build came to, and how far it was when the repair was killed, and when the next one began: shares. */
interface Built {
  readonly judged: Judged;
  readonly killed: number;
  readonly resumed: number;
  /** Answers as if it were complete that came too early. */
  readonly early: number;
}

function checks(real: Built, control: Built): readonly Check[] {
  const entries = {
    what: 'entries once it is live',
    bar: '0, 0, 0',
    figure: ({ judged }: Built): string => `${figureOf(judged)} of ${grouped(judged.entries)}`,
    holds: ({ judged, early }: Built): boolean => isClean(judged) && judged.entries > 0 && early === 0,
    fails: ({ judged }: Built): boolean => !isClean(judged),
  };
  const progress = {
    what: 'progress after the kill',
    bar: `at most ${percent(REPEATED_AT_MOST)} again`,
    figure: ({ resumed, killed }: Built): string => `${percent(resumed)} after ${percent(killed)}`,
    holds: ({ resumed, killed }: Built): boolean => resumed >= killed - REPEATED_AT_MOST,
  };
  return [check(entries, real, control), check(progress, real, control)];
}

async function buildUnderWriters(stage: Stage, rows: readonly string[]) {
  const { access, cluster, world } = stage;
  const { seed, signal, say } = world;
  await using store = await openStore(access);
  const { driver_partner_uuid: driver = rows[0] ?? '' } = Object(new TripSource(seed, 0).base('', 0).body);
  const question: BuildQuestion = { index: DRIVER_INDEX.name, field: 'driver_partner_uuid', value: driver };
  using writers = startProcess<WriteInput, WriteProgress>(
    new URL('write-process.ts', import.meta.url),
    cluster.folder,
    { access, seed, rows: rows.slice(0, KNOWN_ROWS) },
  );
  using repair = await startRepair(stage, access, { settings: SETTINGS });
  await writers.ready;
  const start = performance.now();
  await cluster.define(access.datastore, [DRIVER_INDEX]);
  const index = await buildOf(store, DRIVER_INDEX);

  const seen: number[] = [];
  let early = 0;
  const until = async (share: number): Promise<void> => {
    const now = await untilSeen(store, question, (what) => what.state === 'live' || shareOf(what) >= share, signal);
    // Before the build was killed, it cannot be complete.
    if (now.state === 'live' && share < 1) early += 1;
    seen.push(shareOf(now));
    say(`a query is answered: ${now.state}, ${percent(shareOf(now))}`);
  };
  for (const share of [0.1, 0.3, KILLED_AT]) await until(share);
  const moment = new Date().toISOString();
  const killed = shareOf(await ask(store, question));
  await repair.killAndStart();
  const resumed = await firstShareSince(access, index, moment, signal);
  say(`kill -9 of the repair at ${percent(killed)}; the next one begins at ${percent(resumed)}`);
  await until(0.8);
  await untilSeen(store, question, ({ state }) => state === 'live', signal);
  const liveSeconds = (performance.now() - start) / 1000;
  say(`live after ${liveSeconds.toFixed(0)} s`);

  await writers.stop();
  await untilQuiet(store, true, world);
  const judged = await judge(store, access.groups, await liveIndexes(store));
  await repair.stop();
  return { judged, killed, resumed, seen, early, liveSeconds, acked: writers.progress?.acked ?? 0 };
}

/** Without what the build keeps, and without waiting for its end. */
async function buildBadly(stage: Stage): Promise<Built> {
  const { access, cluster } = stage;
  const { signal, say } = stage.world;
  await using store = await openStore(access);
  using repair = await startRepair(stage, access, { settings: SETTINGS });
  await cluster.define(access.datastore, [DRIVER_INDEX, ZONE_INDEX]);
  const index = await buildOf(store, ZONE_INDEX);
  const question: BuildQuestion = { index: ZONE_INDEX.name, field: 'zone', value: 1 };
  const killed = shareOf(await untilSeen(store, question, (what) => shareOf(what) >= CONTROL_KILLED_AT, signal));
  const moment = new Date().toISOString();
  await repair.kill();
  await forgetFollower(store.stateTable, { name: buildName(index), datastore: access.datastore });
  await repair.start();
  const resumed = await firstShareSince(access, index, moment, signal);
  await repair.kill();
  const catalogue = { datastore: access.datastore, name: index.name };
  await setIndexState(store.topologyTable, catalogue, index.hash, 'building', 'live');
  const judged = await judge(store, access.groups, [index]);
  say(
    `killed at ${percent(killed)}, the next one begins at ${percent(resumed)}; made live by hand: ${figureOf(judged)}`,
  );
  return { judged, killed, resumed, early: 0 };
}

/** The version of an index that is being built. */
async function buildOf({ context, name }: OpenStore, { name: wanted }: IndexDefinition): Promise<PhysicalIndex> {
  context.topology.refresh();
  const version = (await context.topology.indexes(name))
    .find((one) => one.name === wanted)
    ?.versions.find(({ state }) => state === 'building');
  if (!version) throw new Error(`${wanted} is not being built`);
  return { name: wanted, hash: version.hash, definition: version.definition };
}
