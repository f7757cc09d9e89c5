import { randomUUID } from 'node:crypto';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { resumeAgainAndAgain, THROTTLED_SHARE, type Weather } from './weather.ts';

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
      const { outcome } = await store.datastore.put({
        row_key: randomUUID(),
        column_name: 'BASE',
        ref_key: 0,
        body: { waits: true },
      });
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
