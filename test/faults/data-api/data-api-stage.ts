import { join } from 'node:path';
import { FAULT_KINDS, type FaultKind } from '../../../infra/local/data-api/faults.ts';
import { judgeAnswers, type Judged } from '../acks/judge-answers.ts';
import { discardConflicts, type KeptConflicts } from '../acks/kept-conflicts.ts';
import { readCellsThere } from '../acks/stored-cells.ts';
import { writeThrough } from '../acks/write-through.ts';
import { inspect, type Aftermath } from '../aftermath.ts';
import { untilBuffersEmpty } from '../buffers.ts';
import { startCluster } from '../../support/cluster.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { DrainCounts } from '../../support/workers/drain-thread.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { waitOut, type Waited } from './wait-out.ts';
import { CUT_SHARE, openWeather, resumeAgainAndAgain, THROTTLED_SHARE } from './weather.ts';

const GROUPS = 3;
const SHARDS = 48;
const CELLS = 5500;
const OTHER_SHARE = 0.05;
const BUFFER_PATIENCE_MS = 120_000;

export interface DataApiOutcome {
  readonly engine: string;
  readonly aftermath: Aftermath;
  readonly judged: Judged;
  readonly conflicts: KeptConflicts;
  /** How often each of them happened. */
  readonly happened: readonly { readonly kind: FaultKind; readonly count: number }[];
  readonly circuitsOpened: number;
  readonly waited: Waited;
}

/** Writers and a drain whose calls are cut off, throttled and made to wait; everything is judged, past the Data API, when the buffers are empty. */
export async function carryOut({ folder, engine, seed, history, signal, say }: RunWorld): Promise<DataApiOutcome> {
  await using cluster = await startCluster({ folder: join(folder, 'real'), engine, groups: GROUPS, readers: 1, shards: SHARDS, bufferCopies: 1 });
  await using weather = await openWeather(cluster.access.groups, seed);
  const access: StoreAccess = { ...cluster.access, dataApi: weather.url };
  using drain = startWorker<StoreAccess, 'stop', DrainCounts, DrainCounts>(new URL('../../support/workers/drain-thread.ts', import.meta.url), access);
  await drain.ready;

  const { faults } = weather;
  faults.set({ kind: 'cut-after-commit', share: CUT_SHARE });
  faults.set({ kind: 'throttled', share: THROTTLED_SHARE });
  const stopping = new AbortController();
  const resuming = resumeAgainAndAgain(faults, AbortSignal.any([signal, stopping.signal]));
  const load = await writeThrough({ access, seed, otherShare: OTHER_SHARE, triesAgain: true, run: 'data-api', history }, CELLS, signal);
  stopping.abort();
  await resuming;
  faults.clear();
  const happened = FAULT_KINDS.filter((kind) => kind !== 'unavailable').map((kind) => ({ kind, count: weather.happened(kind) }));
  say(`${load.written.acked.length.toLocaleString('en-US')} cells acknowledged; waiting for the buffers, then reading all back`);

  await using store = await openStore(cluster.access);
  await untilBuffersEmpty(store.datastore, BUFFER_PATIENCE_MS, signal);
  const there = await readCellsThere(cluster.access.groups);
  const conflicts = await discardConflicts(store.datastore, there);
  const aftermath = await inspect({ datastore: store.datastore, groups: cluster.access.groups, written: load.written, signal });
  say('now clusters resume, and no answer is lost');
  return { engine: cluster.engine, aftermath, judged: judgeAnswers(load.answers, there), conflicts, happened, circuitsOpened: load.circuitsOpened, waited: await waitOut(access, weather, signal) };
}
