import { setTimeout as sleep } from 'node:timers/promises';
import type { DrainSettings } from '../../../shared/drain/drain-settings.ts';
import { killNode, untilAllRun } from '../../support/nodes.ts';
import { Random } from '../../support/random.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { grouped } from '../../support/text-table.ts';
import { comes } from '../../support/until.ts';
import type { Aftermath } from '../aftermath.ts';
import type { Answer } from '../load/ask.ts';
import type { Phase } from '../load/latency.ts';
import { allWritten, Ledger } from '../load/ledger.ts';
import { bearableLoad } from '../load/paced.ts';
import { Stage } from '../stage.ts';
import { addToBacklog } from './backlog.ts';
import { countWaiting, openBufferTables, someWaitSince, type BufferTables } from './buffer-tables.ts';
import { busyShare } from './busy-share.ts';
import { damageRows, fateOf, removeDamaged, type DamagedFate, type DamagedRows } from './damaged-rows.ts';
import { rowKeyIn, shardsOf } from './group-shards.ts';
import { refusedWithoutBuffer, type Refused } from './refused.ts';

const SHARDS = 48;
const DOWN = 'group-1';
export const OUTAGE_SECONDS = 60;
const NORMAL_SECONDS = 30;
/**
 * Rows that are brought into the buffer early in the outage, some four times those of the steady load: the drain has to
 * have work for some time.
 */
const BACKLOG_ROWS = 10_000;
/** The control's drain takes the leases of the one before it when these have run out. */
const LEASES_SECONDS = 11;
/** Large pages without a pause between them; and no row is ever given up. */
const HURRIED: DrainSettings = {
  appendsPerSecond: 1_000_000_000,
  pageRows: 1000,
  maxAttempts: Number.MAX_SAFE_INTEGER,
};
/** Twice the bar of a whole outage: what takes longer has failed, and is not waited for. */
const PATIENCE_MS = 240_000;
const POLL_MS = 250;

/** One outage of a group's writer, as the store gets over it; moments in milliseconds since 1970. */
export interface Outage {
  /** Until the writer takes writes again. */
  readonly down: Phase;
  /** From then until nothing waits that was buffered before. */
  readonly drained: Phase;
  /** Rows that waited in the other groups just before the writer was started again. */
  readonly backlog: number;
  readonly damaged: DamagedFate;
}

export interface Outages {
  readonly engine: string;
  readonly shards: ReadonlySet<number>;
  readonly writes: readonly Answer[];
  readonly normal: Phase;
  /** Share of the machine that was busy in normal times. */
  readonly busy: number;
  readonly refused: Refused;
  readonly real: Outage;
  readonly unthrottled: Outage;
  readonly aftermath: Aftermath;
}

/**
 * Two outages of the same writer under the same load: one with the store's own drain, one with a drain that hurries.
 */
export async function outages(world: RunWorld): Promise<Outages> {
  const { seed, signal, say, seconds = OUTAGE_SECONDS } = world;
  await using stage = await Stage.start(world, 'outage', { shards: SHARDS });
  const { access, engine } = stage;
  const tables = stage.use(openBufferTables(access.groups));
  const { datastore } = await stage.open({ sql: {} });
  const shards = await shardsOf(datastore, DOWN);
  const holders = tables.groups.filter((name) => name !== DOWN);
  const [random, ledger] = [new Random(seed, 'damaged', 0), new Ledger()];

  const drain = await stage.drain();
  const load = await bearableLoad(stage);
  const [from, busy] = [Date.now(), busyShare()];
  await sleep((NORMAL_SECONDS * 1000 * seconds) / OUTAGE_SECONDS, undefined, { signal });
  const normal = { from, to: Date.now() };
  const busyInNormalTimes = busy();
  say(`normal times: ${load.perSecond} puts a second, the machine is ${(busyInNormalTimes * 100).toFixed(0)} % busy`);

  const oneOutage = async (
    least: { readonly seconds: number; readonly rows: number },
    meanwhile: () => Promise<void>,
  ): Promise<Outage> => {
    let damaged: DamagedRows = { holder: '', rowKeys: [] };
    const outage = await takeDown(
      stage,
      tables,
      () => damaged.rowKeys,
      async () => {
        const ended = sleep(least.seconds * 1000, undefined, { signal });
        await meanwhile();
        damaged = await damageRows(datastore, tables, holders, () => rowKeyIn(random, shards, SHARDS));
        await addToBacklog(
          { datastore, shards, seed: `${seed} ${least.rows}`, ledger, signal },
          async () => (await countWaiting(tables, holders)) >= least.rows,
        );
        await ended;
      },
    );
    const fate = await fateOf(damaged, tables, signal);
    await removeDamaged(damaged, tables);
    return { ...outage, damaged: fate };
  };
  let refused: Refused = { tried: 0, accepted: 0 };
  const real = await oneOutage({ seconds, rows: (BACKLOG_ROWS * seconds) / OUTAGE_SECONDS }, async () => {
    refused = await refusedWithoutBuffer(access, DOWN, seed);
  });
  say('the control: a drain that hurries');
  const unthrottled = await oneOutage({ seconds: LEASES_SECONDS, rows: real.backlog }, async () => {
    drain[Symbol.dispose]();
    await stage.drain({ settings: HURRIED });
  });

  const { written, answers } = await load.stop();
  const aftermath = await stage.inspect(allWritten([written, load.before, ledger.written()]));
  return { engine, shards, writes: answers, normal, busy: busyInNormalTimes, refused, real, unthrottled, aftermath };
}

/**
 * kill -9 of a group's writer, which stays down while something is done meanwhile, and is started again; waits until
 * the drain has brought over whatever was buffered.
 *
 * @param except row keys that may wait for ever
 */
async function takeDown(
  { servers, world: { signal, say } }: Stage,
  tables: BufferTables,
  except: () => readonly Uint8Array[],
  meanwhile: () => Promise<void>,
): Promise<Omit<Outage, 'damaged'>> {
  const downAt = Date.now();
  const node = await killNode(servers, DOWN);
  say(`kill -9 of ${node}, which stays down`);
  await meanwhile();
  const backlog = await countWaiting(
    tables,
    tables.groups.filter((name) => name !== DOWN),
  );
  const downSeconds = (Date.now() - downAt) / 1000;
  await servers.restart(node);
  await untilAllRun(servers, signal);
  const backAt = Date.now();
  say(`${node} is back after ${downSeconds.toFixed(0)} s, with ${grouped(backlog)} rows in the buffer`);
  // Asked at once, the table would still be busy with whoever comes first.
  await sleep(POLL_MS, undefined, { signal });
  await comes(async () => !(await someWaitSince(tables, backAt, except())), {
    pollMs: POLL_MS,
    patienceMs: PATIENCE_MS,
    signal,
  });
  const emptyAt = Date.now();
  say(`nothing of them waits any more after ${((emptyAt - backAt) / 1000).toFixed(1)} s`);
  return { down: { from: downAt, to: backAt }, drained: { from: backAt, to: emptyAt }, backlog };
}
