import { FAULT_KINDS } from '../../../infra/local/data-api/faults.ts';
import { check, grouped, shareFigure, type Check, type FaultRun, type RunWorld } from '../fault-run.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { judgeTruth, toldCheck, truthControls, wholeCheck, writeUntilTold } from '../acks/told-truth.ts';
import { aftermathNotes } from '../aftermath.ts';
import { Stage } from '../stage.ts';
import {
  CUT_SHARE,
  openWeather,
  PAUSE,
  resumeAgainAndAgain,
  THROTTLED_SHARE,
  waitOut,
  type Waited,
} from './weather.ts';

const SHARDS = 48;
const CONTROL_SHARDS = 12;
const LEAST_WRITES = 300;

export const dataApiRun: FaultRun = {
  name: 'data-api',
  promise:
    'Over the RDS Data API, too, whoever asks again gets the truth, and who comes while a cluster resumes is served',
  fault: `${CUT_SHARE * 100} % of the calls cut off after their commit, ${THROTTLED_SHARE * 100} % throttled; clusters that resume for ${PAUSE.forMs / 1000} s every ${PAUSE.everyMs / 1000} s`,
  control: 'nobody tries again what ended unclear; tables without unique key; nobody waits for a cluster that resumes',

  async run(world) {
    const real = await inBadWeather(world);
    world.say(`the controls: ${dataApiRun.control}`);
    const control = await controls(world);
    const { aftermath, judged, conflicts, happened } = real;
    const isBroken = happened.every(({ count }) => count > 0);
    return {
      checks: [
        toldCheck(judged, control),
        wholeCheck(real, control, isBroken),
        waitedCheck(real.waited, control.waited),
      ],
      cells: aftermath.acked + real.waited.writes,
      engine: real.engine,
      notes: [
        `calls: ${happened.map(({ kind, count }) => `${grouped(count)} ${kind}`).join(', ')}; circuits opened ${real.circuitsOpened} times`,
        `other bodies that were buffered, and kept as conflicts: ${conflicts.kept}`,
        ...aftermathNotes(aftermath),
        ...judged.examples,
      ],
    };
  },
};

/**
 * Writers and a drain whose calls are cut off, throttled and made to wait; what they were told is judged past the Data
 * API.
 */
async function inBadWeather(world: RunWorld) {
  await using stage = await Stage.start(world, 'data-api/real', { shards: SHARDS });
  const weather = stage.use(await openWeather(stage.access.groups, world.seed));
  const access: StoreAccess = { ...stage.access, dataApi: weather.url };
  await stage.drain({ access });
  const { faults } = weather;
  faults.set({ kind: 'cut-after-commit', share: CUT_SHARE });
  faults.set({ kind: 'throttled', share: THROTTLED_SHARE });
  const stopping = new AbortController();
  const resuming = resumeAgainAndAgain(faults, AbortSignal.any([world.signal, stopping.signal]));
  const load = await writeUntilTold(stage, access);
  stopping.abort();
  await resuming;
  faults.clear();
  const kinds = FAULT_KINDS.filter((kind) => kind !== 'unavailable');
  const happened = kinds.map((kind) => ({ kind, count: weather.happened(kind) }));
  const truth = await judgeTruth(stage, [load], load);
  world.say('now clusters resume, and no answer is lost');
  const waited = await waitOut(access, weather, world.signal);
  return { ...truth, engine: stage.engine, happened, circuitsOpened: load.openings.length, waited };
}

/** The same weather where nobody waits for a cluster that resumes; then the same cuts. */
async function controls(world: RunWorld) {
  await using stage = await Stage.start(world, 'data-api/control', { readers: 0, shards: CONTROL_SHARDS });
  const weather = stage.use(await openWeather(stage.access.groups, world.seed));
  const access: StoreAccess = { ...stage.access, dataApi: weather.url };
  const waited = await waitOut({ ...access, dataApiSettings: { waitMs: 0 } }, weather, world.signal);
  weather.faults.set({ kind: 'cut-after-commit', share: CUT_SHARE });
  return { ...(await truthControls(stage, access)), waited };
}

function waitedCheck(real: Waited, control: Waited): Check {
  return check(
    {
      what: 'writes not stored while clusters resume and calls are throttled; control: nobody waits',
      bar: `0 of at least ${LEAST_WRITES}`,
      figure: ({ notStored, writes }) => shareFigure({ wrong: notStored, of: writes }),
      holds: ({ notStored, writes, refusals }) => notStored === 0 && writes >= LEAST_WRITES && refusals > 0,
      fails: ({ notStored }) => notStored > 0,
    },
    real,
    control,
  );
}
