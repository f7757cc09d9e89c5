import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import { judgeAnswers, type Judged } from '../acks/judge-answers.ts';
import { readCellsThere } from '../acks/stored-cells.ts';
import { dropUniqueKeys } from '../acks/without-unique-keys.ts';
import { inspect, type Aftermath } from '../aftermath.ts';
import { startCluster } from '../../support/cluster.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { DrainCounts } from '../../support/workers/drain-thread.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { compareKept, storedLogs } from '../stored-logs.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { startSteadyLoad, type SteadyWriters } from './start-steady-load.ts';
import type { Steady, Trip } from './steady-load.ts';
import { waitsIn, type Waits, type Window } from './waits.ts';

const GROUPS = 3;
const SHARDS = 48;
const PAUSED = 'group-1';
const WRITERS = 16;
const PER_SECOND = 5;
const CONTROL_PER_SECOND = 4;
/** Modules are compiled and connections opened in the first of these. */
const WARM_UP_MS = 3000;
const PEACE_MS = 4000;
/** Writes that began so shortly before the stop may meet it. */
const UNDER_WAY_MS = 500;
export const PAUSE_SECONDS = 20;
/** A time limit of four seconds has to pass before anybody knows. */
const TRIPPED_MS = 5000;
/** For what was sent before to land, and for writes in peace. */
const AFTER_MS = 5000;
/** Longer than the server is paused: nothing ends by itself. */
const NO_LIMIT_MS = 60_000;

export interface Waited {
  /** Writes to the group whose writer is paused, and all others. */
  readonly own: Waits;
  readonly others: Waits;
}

export interface Paused {
  readonly engine: string;
  readonly waited: Waited;
  /** Before the pause. */
  readonly inPeace: Waited;
  /** When circuits opened, in milliseconds since the writer was paused. */
  readonly trips: readonly Trip[];
  readonly aftermath: Aftermath;
  readonly judged: Judged;
  /** Without circuit breakers. */
  readonly unguarded: Waited;
  /** Without time limits, too. */
  readonly unlimited: Waited;
  /** Cells stored twice, without unique keys. */
  readonly doubled: number;
}

/** A group's writer is paused under load; then once more, for the controls, which write to tables without unique keys. */
export async function pauseUnderLoad({ folder, engine, seed, history, signal, say }: RunWorld): Promise<Paused> {
  await using cluster = await startCluster({ folder: join(folder, 'cluster'), engine, groups: GROUPS, readers: 1, shards: SHARDS, bufferCopies: 1 });
  const { access, servers } = cluster;
  await using store = await openStore(access);
  const shards = new Set((await store.datastore.heads()).filter(({ group }) => group === PAUSED).map(({ shard }) => shard));
  using drain = startWorker<StoreAccess, 'stop', DrainCounts, DrainCounts>(new URL('../../support/workers/drain-thread.ts', import.meta.url), access);
  await drain.ready;
  const waits = (answers: Steady['answers'], window: Window): Waited => waitsIn(answers, window, shards, SHARDS);

  using load = startSteadyLoad({ access, writers: WRITERS, perSecond: PER_SECOND, seed, run: 'paused', history });
  await load.ready;
  const { stopped, resumed } = await pause(servers, signal, say);
  const real = await load.stop();
  say(`${real.written.acked.length.toLocaleString('en-US')} cells acknowledged; waiting for the buffers, then reading all back`);
  const aftermath = await inspect({ datastore: store.datastore, groups: access.groups, written: real.written, signal });
  const judged = judgeAnswers(real.answers, await readCellsThere(access.groups));

  say('the controls: without circuit breakers; without time limits, too; tables without unique keys');
  await dropUniqueKeys(access.groups);
  const sql = { queryTimeoutMs: NO_LIMIT_MS, connectTimeoutMs: NO_LIMIT_MS, acquireTimeoutMs: NO_LIMIT_MS };
  const control = (name: string, varied: Partial<StoreAccess>): SteadyWriters =>
    startSteadyLoad({ access: { ...access, isGuarded: false, ...varied }, writers: WRITERS, perSecond: CONTROL_PER_SECOND, seed: `${seed} ${name}`, run: `paused/${name}`, history: undefined });
  using unguarded = control('unguarded', {});
  using unlimited = control('unlimited', { sql });
  await Promise.all([unguarded.ready, unlimited.ready]);
  const again = await pause(servers, signal, say);
  const [withLimits, without] = await Promise.all([unguarded.stop(), unlimited.stop()]);
  const { doubled } = compareKept([...withLimits.written.acked, ...without.written.acked], await storedLogs(access.groups));
  return {
    engine: cluster.engine,
    waited: waits(real.answers, { from: stopped + TRIPPED_MS, to: resumed }),
    inPeace: waits(real.answers, { from: stopped - PEACE_MS, to: stopped - UNDER_WAY_MS }),
    trips: real.trips.map(({ circuit, at }) => ({ circuit, at: at - stopped })),
    aftermath,
    judged,
    unguarded: waits(withLimits.answers, { from: again.stopped + TRIPPED_MS, to: again.resumed }),
    unlimited: waits(without.answers, { from: again.stopped + TRIPPED_MS, to: again.resumed }),
    doubled,
  };
}

/** SIGSTOP of the group's writer, with some peace before and after. */
async function pause(servers: ShardGroups, signal: AbortSignal, say: RunWorld['say']): Promise<{ readonly stopped: number; readonly resumed: number }> {
  const writer = servers.status().find(({ group, role }) => group === PAUSED && role === 'writer');
  if (!writer) throw new Error(`${PAUSED} has no writer`);
  await sleep(WARM_UP_MS + PEACE_MS, undefined, { signal });
  const stopped = Date.now();
  servers.pause(writer.node);
  try {
    say(`SIGSTOP of ${writer.node}`);
    await sleep(PAUSE_SECONDS * 1000, undefined, { signal });
  } finally {
    servers.resume(writer.node);
  }
  const resumed = Date.now();
  say(`SIGCONT of ${writer.node}`);
  await sleep(AFTER_MS, undefined, { signal });
  return { stopped, resumed };
}
