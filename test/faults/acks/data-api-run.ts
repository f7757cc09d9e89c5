import { setTimeout as sleep } from 'node:timers/promises';
import { startDataApi } from '../../../infra/local/data-api/data-api.ts';
import { FAULT_KINDS, type Faults } from '../../../infra/local/data-api/faults.ts';
import { Random } from '../../support/random.ts';
import type { GroupAccess, StoreAccess } from '../../support/store-access.ts';
import { grouped } from '../fault-run.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { judgeTruth, toldCheck, truthControls, wholeCheck, writeUntilTold } from './told-truth.ts';

const CUT_SHARE = 0.1;
const THROTTLED_SHARE = 0.1;
/** Pauses so short and so rare that the adapter's wait outlasts two of them. */
const PAUSE = { everyMs: 10_000, forMs: 3000 } as const;

export const dataApiRun = stagedRun({
  name: 'data-api',
  promise: 'Over the RDS Data API as well, a retry returns the truth',
  fault: `${CUT_SHARE * 100} % of the calls cut off after their commit, ${THROTTLED_SHARE * 100} % throttled; clusters that resume for ${PAUSE.forMs / 1000} s every ${PAUSE.everyMs / 1000} s`,
  control: 'no retry of unclear writes; tables without unique key',
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
    return { ...truth, happened, circuitsOpened: load.openings.length };
  },
  async without(stage) {
    const { weather, access } = await throughDataApi(stage);
    weather.faults.set({ kind: 'cut-after-commit', share: CUT_SHARE });
    return await truthControls(stage, access);
  },
  judge(real, control) {
    const { judged, conflicts, happened } = real;
    return {
      checks: [
        toldCheck(judged, control),
        wholeCheck(
          real,
          control,
          happened.every(({ count }) => count > 0),
        ),
      ],
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

async function openWeather(groups: readonly GroupAccess[], seed: string) {
  const random = new Random(seed, 'weather', 0);
  const api = await startDataApi({
    login: (resourceArn) => {
      const group = groups.find(({ clusterArn }) => clusterArn === resourceArn);
      return group && { ...group.writer, user: group.user, password: group.password };
    },
    random: () => random.next(),
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
