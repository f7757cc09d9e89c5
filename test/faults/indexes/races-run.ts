import { check, countsLine, grouped, type Check, type FaultRun, type RunWorld } from '../fault-run.ts';
import { openStore, type DatastoreAccess } from '../../support/store-access.ts';
import { Stage } from '../stage.ts';
import { figureOf, isClean, judge, liveIndexes, untilQuiet, type Judged } from './problems.ts';
import { loseLastCells } from './lose-last-cells.ts';
import { problemsText } from './compare-tables.ts';
import { race, startRepair } from './race.ts';
import { DRIVER_INDEX, ZONE_INDEX } from './race-definitions.ts';
import { ROWS } from './racing-cells.ts';
import { AS_IT_IS, type Variation } from './variation.ts';
import { lookUntil } from '../../support/look-until.ts';

const INDEXES = [DRIVER_INDEX, ZONE_INDEX];
const CLUSTER = { groups: 3, shards: 24, indexes: INDEXES, restartAfterSeconds: 2, promotes: true };
const SECONDS = 20;
const CONTROL_SECONDS = 10;
const LATE: Variation = { ...AS_IT_IS, late: 0.2 };
/** The repair verifies some seconds after a cut; a control is given up sooner. */
const PATIENCE_MS = 40_000;
const CONTROL_PATIENCE_MS = 12_000;
const LOOK_EVERY_MS = 2000;

export const racesRun: FaultRun = {
  name: 'races',
  promise: 'An index converges to what the cells say',
  fault: `8 writers racing versions of the same ${ROWS} rows, processes of writers, the repair and a group's writer killed, entries up to 9 s late; a promotion that loses the last cells`,
  control: 'no repair; tombstones deleted instead of kept; all entries of one epoch',

  async run(world) {
    await using stage = await Stage.start(world, 'races', CLUSTER);
    await stage.drain({ looksForMore: true });
    const real = await raceAndLose(stage, world.seconds ?? SECONDS);
    world.say(`the control: ${racesRun.control}`);
    const unrepaired = await racedOtherwise(stage, 'unrepaired', LATE, false);
    const deleted = await racedOtherwise(stage, 'deleted', { ...LATE, tombstones: false }, true);
    const oneEpoch = await lostInOneEpoch(stage);
    return {
      checks: [
        entriesCheck('entries after the races, without a repair', real.afterRaces, unrepaired),
        entriesCheck('… without tombstones', real.afterRaces, deleted),
        entriesCheck('entries after the promotion, without epochs', real.afterLoss, oneEpoch),
      ],
      cells: real.raced.acked,
      engine: stage.engine,
      notes: [
        `processes of writers killed: ${real.raced.kills}; writes of entries: ${grouped(real.raced.entries)}, late ${grouped(real.raced.late)}`,
        `the repair, after it was killed: ${real.repaired}`,
        `clean ${real.cleanSeconds.toFixed(1)} s after the promotion, which lost ${real.lost} cells`,
        ...Object.entries({ races: real.afterRaces, promotion: real.afterLoss }).map(
          ([what, judged]) => `${what}: ${bothWays(judged)}`,
        ),
        `the controls: ${[unrepaired, deleted, oneEpoch].map(bothWays).join('; ')}`,
      ],
    };
  },
};

function entriesCheck(what: string, real: Judged, control: Judged): Check {
  const least = ROWS / 2;
  return check(
    {
      what,
      bar: `0, 0, 0 of at least ${least}`,
      figure: (judged) => `${figureOf(judged)} of ${judged.entries}`,
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

async function raceAndLose(stage: Stage, seconds: number) {
  const { access, world } = stage;
  await using store = await openStore(access);
  using repair = await startRepair(stage, access);
  const raced = await race(stage, { access, seconds, variation: LATE, repair });
  await untilQuiet(store, true, world);
  const afterRaces = await judge(store, access.groups, await liveIndexes(store));
  world.say(`after the races: ${bothWays(afterRaces)}`);
  const lost = await loseLastCells(stage, { access, group: 'group-1', variation: AS_IT_IS });
  const { judged: afterLoss, seconds: cleanSeconds } = await onceClean(access, PATIENCE_MS, world);
  world.say(`after the promotion: ${bothWays(afterLoss)}`);
  await repair.stop();
  return { raced, afterRaces, lost, afterLoss, cleanSeconds, repaired: countsLine({ ...repair.progress.at(-1) }) };
}

/** Looks until nothing is wrong, or for so long that a repair would have come to it. */
async function onceClean(
  access: DatastoreAccess,
  patienceMs: number,
  world: RunWorld,
): Promise<{ readonly judged: Judged; readonly seconds: number }> {
  await using store = await openStore(access);
  const start = performance.now();
  await untilQuiet(store, true, world);
  const look = async (): Promise<Judged> => judge(store, access.groups, await liveIndexes(store));
  const left = patienceMs - (performance.now() - start);
  const judged = await lookUntil(look, isClean, { pollMs: LOOK_EVERY_MS, patienceMs: left, signal: world.signal });
  return { judged, seconds: (performance.now() - start) / 1000 };
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
  stage.world.say(`${datastore}: ${bothWays(judged)}`);
  await repair?.stop();
  return judged;
}

async function lostInOneEpoch(stage: Stage): Promise<Judged> {
  const access = await stage.cluster.define('one_epoch', INDEXES);
  const variation = { ...AS_IT_IS, epochs: false };
  using repair = await startRepair(stage, access, { variation });
  await loseLastCells(stage, { access, group: 'group-2', variation });
  const { judged } = await onceClean(access, CONTROL_PATIENCE_MS, stage.world);
  stage.world.say(`one epoch: ${bothWays(judged)}`);
  await repair.stop();
  return judged;
}
