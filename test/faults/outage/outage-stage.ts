import { setTimeout as sleep } from 'node:timers/promises';
import type { DrainSettings } from '../../../shared/drain/drain-settings.ts';
import { Random } from '../../support/random.ts';
import { inspect, type Aftermath } from '../aftermath.ts';
import { startCluster } from '../../support/cluster.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { allWritten, Ledger } from '../load/ledger.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { addToBacklog } from './backlog.ts';
import { countWaiting, openBufferTables } from './buffer-tables.ts';
import { busyShare } from './busy-share.ts';
import { damageRows, fateOf, removeDamaged, type DamagedFate, type DamagedRows } from './damaged-rows.ts';
import { rowKeyIn, shardsOf } from './group-shards.ts';
import { clock } from './latency.ts';
import type { PacedLoad, PacedProgress, PacedWrite, PacedWritten } from './paced-load.ts';
import { refusedWithoutBuffer, type Refused } from './refused.ts';
import type { VariedDrain } from './varied-drain-thread.ts';
import { findSteadyRate } from './steady-rate.ts';
import { takeDown, type Downtime } from './writer-down.ts';

const GROUPS = 3;
const SHARDS = 48;
const DOWN = 'group-1';
export const OUTAGE_SECONDS = 60;
const WARM_UP_SECONDS = 6;
const NORMAL_SECONDS = 30;
/** Rows that are brought into the buffer early in the outage, some four times those of the steady load: the drain has to have work for some time. */
const BACKLOG_ROWS = 10_000;
/** The control's drain takes the leases of the one before it when these have run out. */
const LEASES_SECONDS = 11;
/** Large pages without a pause between them; and no row is ever given up. */
const HURRIED: DrainSettings = { appendsPerSecond: 1_000_000_000, pageRows: 1000, maxAttempts: Number.MAX_SAFE_INTEGER };

export interface Phase {
  readonly from: number;
  readonly to: number;
}

/** One outage of a group's writer, as the store gets over it. */
export interface OutagePart {
  readonly downtime: Downtime;
  readonly damaged: DamagedFate;
}

export interface Outages {
  readonly engine: string;
  readonly shards: ReadonlySet<number>;
  readonly writes: readonly PacedWrite[];
  readonly normal: Phase;
  /** Share of the machine that was busy in normal times. */
  readonly busy: number;
  readonly refused: Refused;
  readonly real: OutagePart;
  readonly unthrottled: OutagePart;
  readonly aftermath: Aftermath;
}

/** Two outages of the same writer under the same load: one with the store's own drain, one with a drain that hurries. */
export async function outages(world: RunWorld): Promise<Outages> {
  const { folder, engine, seed, history, signal, say, seconds: downSeconds = OUTAGE_SECONDS } = world;
  await using cluster = await startCluster({ folder, engine, groups: GROUPS, readers: 1, shards: SHARDS, bufferCopies: 1 });
  const { access, servers } = cluster;
  await using tables = openBufferTables(access.groups);
  await using store = await openStore(access);
  const shards = await shardsOf(store.datastore, DOWN);
  const holders = tables.groups.filter((name) => name !== DOWN);
  const [random, ledger] = [new Random(seed, 'damaged', 0), new Ledger()];

  const drain = startDrain(access, {});
  using stopped = new DisposableStack();
  stopped.use(drain);
  await drain.ready;
  const rate = await findSteadyRate(access, seed, signal);
  using load = startWorker<PacedLoad, 'stop', PacedProgress, PacedWritten>(new URL('paced-load.ts', import.meta.url), { access, perSecond: rate.perSecond, seed, run: 'outage', history });
  await load.ready;
  await sleep(WARM_UP_SECONDS * 1000, undefined, { signal });
  const [from, busy] = [clock(), busyShare()];
  await sleep((NORMAL_SECONDS * 1000 * downSeconds) / OUTAGE_SECONDS, undefined, { signal });
  const normal = { from, to: clock() };
  const busyInNormalTimes = busy();
  say(`normal times: ${rate.perSecond} puts a second, the machine is ${(busyInNormalTimes * 100).toFixed(0)} % busy`);

  const oneOutage = async (least: { readonly seconds: number; readonly rows: number }, meanwhile: () => Promise<void>): Promise<OutagePart> => {
    let damaged: DamagedRows = { holder: '', rowKeys: [] };
    const downtime = await takeDown({ servers, group: DOWN, tables, except: () => damaged.rowKeys, signal, say }, async () => {
      const ended = sleep(least.seconds * 1000, undefined, { signal });
      await meanwhile();
      damaged = await damageRows(store.datastore, tables, holders, () => rowKeyIn(random, shards, SHARDS));
      await addToBacklog({ datastore: store.datastore, shards, seed: `${seed} ${least.rows}`, ledger, signal }, async () => (await countWaiting(tables, holders)) >= least.rows);
      await ended;
    });
    const fate = await fateOf(damaged, tables, signal);
    await removeDamaged(damaged, tables);
    return { downtime, damaged: fate };
  };

  let refused: Refused = { tried: 0, accepted: 0 };
  const real = await oneOutage({ seconds: downSeconds, rows: (BACKLOG_ROWS * downSeconds) / OUTAGE_SECONDS }, async () => {
    refused = await refusedWithoutBuffer(access, DOWN, seed);
  });
  say('the control: a drain that hurries');
  const unthrottled = await oneOutage({ seconds: LEASES_SECONDS, rows: real.downtime.backlog }, async () => {
    drain[Symbol.dispose]();
    await stopped.use(startDrain(access, { settings: HURRIED })).ready;
  });
  const { written, writes } = await load.stop('stop');
  await using fresh = await openStore(access);
  const aftermath = await inspect({ datastore: fresh.datastore, groups: access.groups, written: allWritten([written, rate.written, ledger.written()]), signal });
  return { engine: cluster.engine, shards, writes, normal, busy: busyInNormalTimes, refused, real, unthrottled, aftermath };
}

function startDrain(access: StoreAccess, varied: Omit<VariedDrain, 'access'>) {
  return startWorker<VariedDrain, 'stop', never, void>(new URL('varied-drain-thread.ts', import.meta.url), { access, ...varied });
}
