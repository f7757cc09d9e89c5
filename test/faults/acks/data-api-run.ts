import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDataApi } from '../../../infra/local/data-api/data-api.ts';
import { FAULT_KINDS, type Faults } from '../../../infra/local/data-api/faults.ts';
import { openStore, type GroupAccess, type StoreAccess } from '../../support/store-access.ts';
import { check, grouped, shareFigure } from '../fault-run.ts';
import { baseCell } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { judgeTruth, toldCheck, truthControls, wholeCheck, writeUntilTold } from './told-truth.ts';

const CUT_SHARE = 0.1;
const LEAST_WRITES = 300;
const THROTTLED_SHARE = 0.1;
/** So short, and so far from each other, that the adapter waits for longer than two of them. */
const PAUSE = { everyMs: 10_000, forMs: 3000 } as const;

export const dataApiRun = stagedRun({
  name: 'data-api',
  promise:
    'Over the RDS Data API, too, whoever asks again gets the truth, and who comes while a cluster resumes is served',
  fault: `${CUT_SHARE * 100} % of the calls cut off after their commit, ${THROTTLED_SHARE * 100} % throttled; clusters that resume for ${PAUSE.forMs / 1000} s every ${PAUSE.everyMs / 1000} s`,
  control: 'nobody tries again what ended unclear; tables without unique key; nobody waits for a cluster that resumes',
  servers: { shards: 48 },
  controlServers: { readers: 0, shards: 12 },
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
    const happened = kinds.map((kind) => ({ kind, count: faults.happened(kind) }));
    const truth = await judgeTruth(stage, [load], load);
    stage.say('now clusters resume, and no answer is lost');
    const waited = await waitOut(access, weather, stage.world.signal);
    return { ...truth, happened, circuitsOpened: load.openings.length, waited };
  },
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

type Weather = Awaited<ReturnType<typeof openWeather>>;

async function openWeather(groups: readonly GroupAccess[], seed: string) {
  const api = await startDataApi({
    login: (resourceArn) => {
      const group = groups.find(({ clusterArn }) => clusterArn === resourceArn);
      return group && { ...group.writer, user: group.user, password: group.password };
    },
    seed: Number(seed.replaceAll(/\D/gu, '')) || 1,
  });
  return {
    url: api.url,
    faults: api.faults,
    [Symbol.asyncDispose]: () => api.stop(),
  };
}

async function resumeAgainAndAgain(faults: Faults, signal: AbortSignal): Promise<void> {
  const wait = (milliseconds: number): Promise<void> =>
    sleep(milliseconds, undefined, { signal }).catch(() => undefined);
  while (!signal.aborted) {
    await wait(PAUSE.everyMs - PAUSE.forMs);
    faults.set({ kind: 'resuming', share: 1 });
    await wait(PAUSE.forMs);
    faults.set({ kind: 'resuming', share: 0 });
  }
}

const WRITERS = 16;
const FOR_MS = 21_000;

/** Writes for a while, with clusters that resume and calls that are throttled, but no lost answer. */
async function waitOut(access: StoreAccess, weather: Weather, signal: AbortSignal) {
  await using store = await openStore(access);
  const refusals = (): number => weather.faults.happened('resuming') + weather.faults.happened('throttled');
  const before = refusals();
  const stopping = new AbortController();
  const until = AbortSignal.any([signal, stopping.signal]);
  weather.faults.set({ kind: 'throttled', share: THROTTLED_SHARE });
  const resuming = resumeAgainAndAgain(weather.faults, until);
  let [writes, notStored] = [0, 0];
  const write = async (): Promise<void> => {
    while (!until.aborted) {
      const { outcome } = await store.datastore.put(baseCell(randomUUID(), { waits: true }));
      writes += 1;
      // While the primary resumes, the drain may come before the writer.
      if (outcome !== 'stored' && outcome !== 'stored_before') notStored += 1;
    }
  };
  const timer = setTimeout(() => stopping.abort(), FOR_MS);
  await Promise.all(Array.from({ length: WRITERS }, write));
  clearTimeout(timer);
  await resuming;
  weather.faults.clear();
  return { writes, notStored, refusals: refusals() - before };
}
