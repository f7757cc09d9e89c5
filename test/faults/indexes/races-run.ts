import type { NewCell } from '../../../shared/cell.ts';
import { shardOf } from '../../../shared/address.ts';
import { pollUntil } from '../../support/poll-until.ts';
import { killWithDisk, stopReceiving } from '../../support/nodes.ts';
import { openStore, type DatastoreAccess, type OpenStore } from '../../support/store-access.ts';
import { check, countsLine, grouped, type Check } from '../fault-run.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { ackedCells, countUnreadable } from '../stored-cells.ts';
import { resultOf, isClean, judge, liveIndexes, problemsText, untilQuiet, type Judged } from './judge-indexes.ts';
import { DRIVER_INDEX, ROWS, RacingCells, ZONE_INDEX, raceRows } from './racing-cells.ts';
import { race, startRepair } from './race.ts';
import { AS_IT_IS, vary, type Variation } from './variation.ts';

const INDEXES = [DRIVER_INDEX, ZONE_INDEX];
const SECONDS = 20;
const CONTROL_SECONDS = 10;
const LATE: Variation = { ...AS_IT_IS, late: 0.2 };
/** The repair verifies some seconds after a cut; a control is given up sooner. */
const PATIENCE_MS = 40_000;
const CONTROL_PATIENCE_MS = 12_000;
const POLL_MS = 2000;

export const racesRun = stagedRun({
  name: 'races',
  promise: 'An index converges to what the cells say',
  fault: `8 writers racing versions of the same ${ROWS} rows; writers, the repair and a group's writer killed; entries up to 9 s late; a promotion that loses the last cells`,
  control: 'no repair; tombstones deleted instead of kept; all entries of one epoch',
  servers: { groups: 3, shards: 24, indexes: INDEXES, restartAfterSeconds: 2, promotes: true },
  async real(stage) {
    const { access, world } = stage;
    await stage.drain({ checksForMore: true });
    await using store = await openStore(access);
    using repair = await startRepair(stage, access);
    const raced = await race(stage, { access, seconds: world.seconds ?? SECONDS, variation: LATE, repair });
    await untilQuiet(store, true, world);
    const afterRaces = await judge(store, access.groups, await liveIndexes(store));
    stage.say(`after the races: ${bothWays(afterRaces)}`);
    const lost = await loseLastCells(stage, access, 'group-1', AS_IT_IS);
    const start = performance.now();
    const afterLoss = await onceClean(stage, access, PATIENCE_MS);
    const cleanSeconds = (performance.now() - start) / 1000;
    stage.say(`after the promotion: ${bothWays(afterLoss)}`);
    await repair.stop();
    return { raced, afterRaces, lost, afterLoss, cleanSeconds, repaired: countsLine({ ...repair.progress.at(-1) }) };
  },
  async without(stage) {
    return {
      unrepaired: await racedOtherwise(stage, 'unrepaired', LATE, false),
      deleted: await racedOtherwise(stage, 'deleted', { ...LATE, tombstones: false }, true),
      oneEpoch: await lostInOneEpoch(stage),
    };
  },
  judge: (real, { unrepaired, deleted, oneEpoch }) => ({
    checks: [
      entriesCheck('entries after the races, without a repair', real.afterRaces, unrepaired),
      entriesCheck('… without tombstones', real.afterRaces, deleted),
      entriesCheck('entries after the promotion, without epochs', real.afterLoss, oneEpoch),
    ],
    cells: real.raced.acked,
    notes: [
      `processes of writers killed: ${real.raced.kills}; writes of entries: ${grouped(real.raced.entries)}, late ${grouped(real.raced.late)}`,
      `the repair, after it was killed: ${real.repaired}`,
      `clean ${real.cleanSeconds.toFixed(1)} s after the promotion, which lost ${real.lost} cells`,
      `races: ${bothWays(real.afterRaces)}; promotion: ${bothWays(real.afterLoss)}`,
      `the controls: ${[unrepaired, deleted, oneEpoch].map(bothWays).join('; ')}`,
    ],
  }),
});

function entriesCheck(what: string, real: Judged, control: Judged): Check {
  const least = ROWS / 2;
  return check(
    {
      what,
      bar: `0, 0, 0 of at least ${least}`,
      result: (judged) => `${resultOf(judged)} of ${judged.entries}`,
      holds: (judged) => isClean(judged) && judged.entries >= least,
      fails: (judged) => !isClean(judged),
    },
    real,
    control,
  );
}

function bothWays({ problems, inTables }: Judged): string {
  return `verified ${problemsText(problems)}, in the tables ${problemsText(inTables)}`;
}

async function onceClean({ world }: Stage, access: DatastoreAccess, patienceMs: number): Promise<Judged> {
  await using store = await openStore(access);
  const end = performance.now() + patienceMs;
  await untilQuiet(store, true, world);
  return await pollUntil(async () => judge(store, access.groups, await liveIndexes(store)), isClean, {
    pollMs: POLL_MS,
    patienceMs: end - performance.now(),
    signal: world.signal,
  });
}

async function racedOtherwise(
  stage: Stage,
  datastore: string,
  variation: Variation,
  isRepaired: boolean,
): Promise<Judged> {
  const access = await stage.cluster.define(datastore, INDEXES);
  await using store = await openStore(access);
  using repair = isRepaired ? await startRepair(stage, access, { variation: { ...variation, late: 0 } }) : undefined;
  await race(stage, { access, seconds: CONTROL_SECONDS, variation, repair });
  await untilQuiet(store, isRepaired, stage.world);
  const judged = await judge(store, access.groups, await liveIndexes(store));
  stage.say(`${datastore}: ${bothWays(judged)}`);
  await repair?.stop();
  return judged;
}

async function lostInOneEpoch(stage: Stage): Promise<Judged> {
  const access = await stage.cluster.define('one_epoch', INDEXES);
  const variation = { ...AS_IT_IS, epochs: false };
  using repair = await startRepair(stage, access, { variation });
  await loseLastCells(stage, access, 'group-2', variation);
  const judged = await onceClean(stage, access, CONTROL_PATIENCE_MS);
  stage.say(`one epoch: ${bothWays(judged)}`);
  await repair.stop();
  return judged;
}

/** The time in which the repair follows the first of the lost cells, but not the last. */
const FOLLOWED_MS = 6000;
const SIDE_BY_SIDE = 8;
/** The versions of each row before the promotion, and after it. */
const LOST_VERSIONS = 2;
const NEW_VERSIONS = 1;

/**
 * Stops the replication of a group's reader; the writer continues and dies with its disk, and the reader is promoted:
 * cells, and entries of other rows, are gone. Then half of the rows are written again, so that new cells take the added
 * ids of lost ones. Returns the count of lost cells.
 */
async function loseLastCells(
  stage: Stage,
  access: DatastoreAccess,
  group: string,
  variation: Variation,
): Promise<number> {
  const { servers, say } = stage;
  const { seed } = stage.world;
  const varied = vary(variation, seed);
  // Without copies in the buffer, which would restore every cell.
  await using uncopied = await openStore({ ...access, bufferCopies: 0 }, { wrap: varied.wrap });
  const cells = new RacingCells(seed, 0, Date.now() - 3_600_000);
  const rows = raceRows(seed);
  const isEarly = (row: string): boolean =>
    Math.floor(shardOf(row, uncopied.datastore.shards) / servers.groups.length) % 2 === 0;
  await stopReceiving(servers, group);
  const early = await write(uncopied, rows.filter(isEarly), cells, LOST_VERSIONS);
  await stage.wait(FOLLOWED_MS);
  const lateRows = rows.filter((row) => !isEarly(row));
  const late = await write(uncopied, lateRows, cells, LOST_VERSIONS);
  const writer = await killWithDisk(stage.cluster, group);
  await servers.promote(group);

  const lost = await countUnreadable(uncopied.datastore, ackedCells([...early, ...late]));
  if (lost === 0) throw new Error(`${group} lost no cell`);
  say(`${writer} died with its disk; the promoted reader lacks ${lost} cells`);
  await using store = await openStore(access, { wrap: varied.wrap });
  // The others keep the state that the promotion left.
  const rewritten = rows.filter((_, position) => position % 2 === 0);
  await write(store, rewritten, cells, NEW_VERSIONS);
  await varied.idle();
  await stage.untilAllRun();
  return lost;
}

async function write(
  { datastore }: OpenStore,
  rows: readonly string[],
  source: RacingCells,
  versions: number,
): Promise<NewCell[]> {
  const queue = Array.from({ length: versions }, () => rows).flat();
  const stored: NewCell[] = [];
  const lane = async (): Promise<void> => {
    for (let row = queue.pop(); row !== undefined; row = queue.pop()) {
      const cell = source.of(row);
      if ((await datastore.put(cell)).outcome === 'stored') stored.push(cell);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  return stored;
}
