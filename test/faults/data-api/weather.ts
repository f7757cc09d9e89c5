import { setTimeout as sleep } from 'node:timers/promises';
import { startDataApi } from '../../../infra/local/data-api/data-api.ts';
import type { FaultKind, Faults } from '../../../infra/local/data-api/faults.ts';
import type { GroupAccess } from '../../support/store-access.ts';

export const CUT_SHARE = 0.1;
export const THROTTLED_SHARE = 0.1;
/** So short, and so far from each other, that the adapter waits for longer than two of them. */
export const PAUSE = { everyMs: 10_000, forMs: 3000 } as const;

/** An RDS Data API over the groups, and what happens to its calls. */
export interface Weather extends AsyncDisposable {
  readonly url: string;
  readonly faults: Faults;
  happened(kind: FaultKind): number;
}

export async function openWeather(groups: readonly GroupAccess[], seed: string): Promise<Weather> {
  const api = await startDataApi({
    clusters: groups.map(({ clusterArn, writer, user, password }) => ({
      resourceArn: clusterArn,
      ...writer,
      user,
      password,
    })),
    seed: Number(seed.replaceAll(/\D/gu, '')) || 1,
  });
  return {
    url: api.url,
    faults: api.faults,
    happened: (wanted) => api.faults.status().find(({ kind }) => kind === wanted)?.happened ?? 0,
    [Symbol.asyncDispose]: () => api.stop(),
  };
}

/** Lets the clusters be resuming again and again until it is aborted. */
export async function resumeAgainAndAgain(faults: Faults, signal: AbortSignal): Promise<void> {
  const wait = (milliseconds: number): Promise<void> =>
    sleep(milliseconds, undefined, { signal }).catch(() => undefined);
  while (!signal.aborted) {
    await wait(PAUSE.everyMs - PAUSE.forMs);
    faults.set({ kind: 'resuming', share: 1 });
    await wait(PAUSE.forMs);
    faults.set({ kind: 'resuming', share: 0 });
  }
}
