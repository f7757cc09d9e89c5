import { setTimeout as sleep } from 'node:timers/promises';
import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { DATASTORE } from '../../support/store-access.ts';
import { untilQuiet } from './caught-up.ts';
import { openIndexed, type IndexedAccess } from '../../support/indexed/indexed-store.ts';
import { startProcess } from '../../support/processes/killable-process.ts';
import { loseLastCells } from './lose-last-cells.ts';
import { figureOf, isClean, judge, liveIndexes, type Judged } from './problems.ts';
import { problemsText } from './problem-counts.ts';
import { race, type Raced } from './race.ts';
import { DRIVER_INDEX, ZONE_INDEX } from './race-definitions.ts';
import { ROWS } from './racing-cells.ts';
import type { RepairInput, RepairProgress } from './repair-process.ts';
import { RestartedProcess } from './restarted-process.ts';
import { startStage, type Stage } from '../../support/indexed/stage.ts';
import { AS_IT_IS, type Variation } from './variation.ts';

const GROUPS = 3;
const SHARDS = 24;
const RESTART_SECONDS = 2;
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

  async run(world: RunWorld): Promise<RunOutcome> {
    const { folder, engine, seconds = SECONDS, say } = world;
    await using stage = await startStage({ folder, engine, groups: GROUPS, readers: 1, shards: SHARDS, bufferCopies: 1, restartAfterSeconds: RESTART_SECONDS, promotes: true });
    const access = await stage.define(DATASTORE, [DRIVER_INDEX, ZONE_INDEX]);
    using drain = startProcess<IndexedAccess, undefined>(new URL('drain-process.ts', import.meta.url), folder, access);
    await drain.ready;

    const real = await raceAndLose(world, stage, access, seconds);
    say(`the control: ${racesRun.control}`);
    const unrepaired = await raced(world, stage, { datastore: 'unrepaired', seconds: CONTROL_SECONDS, isRepaired: false, variation: LATE });
    const deleted = await raced(world, stage, { datastore: 'deleted', seconds: CONTROL_SECONDS, isRepaired: true, variation: { ...LATE, tombstones: false } });
    const oneEpoch = await lostInOneEpoch(world, stage);
    return {
      checks: [
        check('entries after the races, without a repair', real.afterRaces, unrepaired.judged),
        check('… without tombstones', real.afterRaces, deleted.judged),
        check('entries after the promotion, without epochs', real.afterLoss, oneEpoch),
      ],
      cells: real.raced.acked,
      engine: stage.engine,
      notes: [
        `processes of writers killed: ${real.raced.kills}; writes of entries: ${real.raced.entries.toLocaleString('en-US')}, late ${real.raced.late.toLocaleString('en-US')}`,
        `the repair, after it was killed: ${real.repaired.map(([what, count]) => `${what} ${count.toLocaleString('en-US')}`).join(', ')}`,
        `clean ${real.cleanSeconds.toFixed(1)} s after the promotion, which lost ${real.lost} cells`,
        ...[['races', real.afterRaces], ['promotion', real.afterLoss]].map(([what, judged]) => `${what as string}: ${bothWays(judged as Judged)}`),
        `the controls: ${[unrepaired.judged, deleted.judged, oneEpoch].map(bothWays).join('; ')}`,
      ],
    };
  },
};

function check(what: string, real: Judged, control: Judged): Check {
  const least = ROWS / 2;
  return {
    what,
    figure: `${figureOf(real)} of ${real.entries}`,
    bar: `0, 0, 0 of at least ${least}`,
    passed: isClean(real) && real.entries >= least,
    control: { figure: `${figureOf(control)} of ${control.entries}`, failed: !isClean(control) },
  };
}

function bothWays({ problems, inTables }: Judged): string {
  return `verified ${problemsText(problems)}, in the tables ${problemsText(inTables)}`;
}

function startRepair(stage: Stage, access: IndexedAccess, variation: Variation): RestartedProcess<RepairInput, RepairProgress> {
  return new RestartedProcess(new URL('repair-process.ts', import.meta.url), stage.folder, () => ({ access, variation }));
}

async function raceAndLose(world: RunWorld, stage: Stage, access: IndexedAccess, seconds: number) {
  const { seed, signal, say } = world;
  await using store = await openIndexed(access);
  using repair = startRepair(stage, access, AS_IT_IS);
  await repair.ready;
  const raced = await race({ stage, access, seed, seconds, variation: LATE, repair, signal, say });
  await untilQuiet(store, true, world);
  const afterRaces = await judge(store, access.groups, await liveIndexes(store));
  say(`after the races: ${bothWays(afterRaces)}`);

  const lost = await loseLastCells({ stage, access, group: 'group-1', seed, variation: AS_IT_IS, signal, say });
  const { judged: afterLoss, seconds: cleanSeconds } = await onceClean(access, PATIENCE_MS, world);
  say(`after the promotion: ${bothWays(afterLoss)}`);
  await repair.stop();
  return { raced, afterRaces, lost, afterLoss, cleanSeconds, repaired: Object.entries({ ...repair.progress.at(-1) }) };
}

/** Looks until nothing is wrong, or for so long that a repair would have come to it. */
async function onceClean(access: IndexedAccess, patienceMs: number, world: RunWorld): Promise<{ readonly judged: Judged; readonly seconds: number }> {
  await using store = await openIndexed(access);
  const start = performance.now();
  await untilQuiet(store, true, world);
  for (;;) {
    store.context.topology.refresh();
    const judged = await judge(store, access.groups, await liveIndexes(store));
    const elapsed = performance.now() - start;
    if (isClean(judged) || elapsed > patienceMs) return { judged, seconds: elapsed / 1000 };
    await sleep(LOOK_EVERY_MS, undefined, { signal: world.signal });
  }
}

interface ControlRace {
  readonly datastore: string;
  readonly seconds: number;
  readonly isRepaired: boolean;
  readonly variation: Variation;
}

async function raced(world: RunWorld, stage: Stage, { datastore, seconds, isRepaired, variation }: ControlRace): Promise<{ readonly raced: Raced; readonly judged: Judged }> {
  const { seed, signal, say } = world;
  const access = await stage.define(datastore, [DRIVER_INDEX, ZONE_INDEX]);
  await using store = await openIndexed(access);
  using repair = isRepaired ? startRepair(stage, access, { ...variation, late: 0 }) : undefined;
  await repair?.ready;
  const done = await race({ stage, access, seed, seconds, variation, repair, signal, say });
  await untilQuiet(store, isRepaired, world);
  const judged = await judge(store, access.groups, await liveIndexes(store));
  say(`${datastore}: ${bothWays(judged)}`);
  await repair?.stop();
  return { raced: done, judged };
}

async function lostInOneEpoch(world: RunWorld, stage: Stage): Promise<Judged> {
  const { seed, signal, say } = world;
  const access = await stage.define('one_epoch', [DRIVER_INDEX, ZONE_INDEX]);
  const variation = { ...AS_IT_IS, epochs: false };
  using repair = startRepair(stage, access, variation);
  await repair.ready;
  await loseLastCells({ stage, access, group: 'group-2', seed, variation, signal, say });
  const { judged } = await onceClean(access, CONTROL_PATIENCE_MS, world);
  say(`one epoch: ${bothWays(judged)}`);
  await repair.stop();
  return judged;
}
