import { setTimeout as sleep } from 'node:timers/promises';
import { startDataApi } from '../../../infra/local/data-api/data-api.ts';
import type { FaultKind, Faults } from '../../../infra/local/data-api/faults.ts';
import { openStore, type GroupAccess, type StoreAccess } from '../../support/store-access.ts';
import { randomUUID } from 'node:crypto';
import { baseCell } from '../row-keys.ts';

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

const WRITERS = 16;
const FOR_MS = 21_000;

/** What became of writes, each asked for once. */
export interface Waited {
  readonly writes: number;
  readonly notStored: number;
  /** Calls that were refused, since the cluster resumed or too many came. */
  readonly refusals: number;
}

/**
 * Writes for a while, with clusters that resume again and again and calls that are throttled, but no answer that is
 * lost.
 */
export async function waitOut(access: StoreAccess, weather: Weather, signal: AbortSignal): Promise<Waited> {
  await using store = await openStore(access);
  const refusals = (): number => weather.happened('resuming') + weather.happened('throttled');
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
