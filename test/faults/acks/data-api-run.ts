import { FAULT_KINDS } from '../../../infra/local/data-api/faults.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { aftermathNotes } from '../aftermath.ts';
import { check, grouped, shareFigure } from '../fault-run.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { judgeTruth, toldCheck, truthControls, wholeCheck, writeUntilTold } from './told-truth.ts';
import { openWeather, PAUSE, resumeAgainAndAgain, THROTTLED_SHARE, waitOut } from './weather.ts';

const CUT_SHARE = 0.1;
const LEAST_WRITES = 300;

export const dataApiRun = stagedRun({
  name: 'data-api',
  promise:
    'Over the RDS Data API, too, whoever asks again gets the truth, and who comes while a cluster resumes is served',
  fault: `${CUT_SHARE * 100} % of the calls cut off after their commit, ${THROTTLED_SHARE * 100} % throttled; clusters that resume for ${PAUSE.forMs / 1000} s every ${PAUSE.everyMs / 1000} s`,
  control: 'nobody tries again what ended unclear; tables without unique key; nobody waits for a cluster that resumes',
  servers: { shards: 48 },
  controlServers: { readers: 0, shards: 12 },
  /** Writers and a drain whose calls are cut off, throttled and made to wait; judged past the Data API. */
  async real(stage) {
    const { weather, access } = await throughDataApi(stage);
    await stage.drain({ access });
    const { faults } = weather;
    faults.set({ kind: 'cut-after-commit', share: CUT_SHARE });
    faults.set({ kind: 'throttled', share: THROTTLED_SHARE });
    const stopping = new AbortController();
    const resuming = resumeAgainAndAgain(faults, AbortSignal.any([stage.world.signal, stopping.signal]));
    const load = await writeUntilTold(stage, access);
    stopping.abort();
    await resuming;
    faults.clear();
    const kinds = FAULT_KINDS.filter((kind) => kind !== 'unavailable');
    const happened = kinds.map((kind) => ({ kind, count: weather.happened(kind) }));
    const truth = await judgeTruth(stage, [load], load);
    stage.say('now clusters resume, and no answer is lost');
    const waited = await waitOut(access, weather, stage.world.signal);
    return { ...truth, happened, circuitsOpened: load.openings.length, waited };
  },
  /** The same weather where nobody waits for a cluster that resumes; then the same cuts. */
  async without(stage) {
    const { weather, access } = await throughDataApi(stage);
    const waited = await waitOut({ ...access, dataApiSettings: { waitMs: 0 } }, weather, stage.world.signal);
    weather.faults.set({ kind: 'cut-after-commit', share: CUT_SHARE });
    return { ...(await truthControls(stage, access)), waited };
  },
  judge(real, control) {
    const { aftermath, judged, conflicts, happened } = real;
    return {
      checks: [
        toldCheck(judged, control),
        wholeCheck(
          real,
          control,
          happened.every(({ count }) => count > 0),
        ),
        check(
          {
            what: 'writes not stored while clusters resume and calls are throttled; control: nobody waits',
            bar: `0 of at least ${LEAST_WRITES}`,
            figure: ({ notStored, writes }) => shareFigure({ wrong: notStored, of: writes }),
            holds: ({ notStored, writes, refusals }) => notStored === 0 && writes >= LEAST_WRITES && refusals > 0,
            fails: ({ notStored }) => notStored > 0,
          },
          real.waited,
          control.waited,
        ),
      ],
      cells: aftermath.acked + real.waited.writes,
      notes: [
        `calls: ${happened.map(({ kind, count }) => `${grouped(count)} ${kind}`).join(', ')}; circuits opened ${real.circuitsOpened} times`,
        `other bodies that were buffered, and kept as conflicts: ${conflicts.kept}`,
        ...aftermathNotes(aftermath),
        ...judged.examples,
      ],
    };
  },
});

async function throughDataApi(stage: Stage) {
  const weather = stage.use(await openWeather(stage.access.groups, stage.world.seed));
  const access: StoreAccess = { ...stage.access, dataApi: weather.url };
  return { weather, access };
}
