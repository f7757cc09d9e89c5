import { cpus } from 'node:os';
import type { DrainSettings } from '../../../shared/drain/drain-settings.ts';
import { Random } from '../../support/random.ts';
import type { Aftermath } from '../aftermath.ts';
import { grouped, sumOf, type RunWorld } from '../fault-run.ts';
import type { Answer } from '../load/ask.ts';
import type { Phase } from '../load/latency.ts';
import { allWritten, Ledger, noOutcomes, type Outcomes } from '../load/ledger.ts';
import { bearableLoad } from '../load/paced.ts';
import { rowKeyIn, shardsOf } from '../row-keys.ts';
import { Stage } from '../stage.ts';
import { addToBacklog, tryPuts } from './try-puts.ts';
import { comesToDrained, countRows, openBufferTables, type BufferTables } from './buffer-tables.ts';
import { damageRows, fateOf, removeDamaged, type DamagedFate, type DamagedRows } from './damaged-rows.ts';

const SHARDS = 48;
const DOWN = 'group-1';
export const OUTAGE_SECONDS = 60;
const NORMAL_SECONDS = 30;
/**
 * Rows that are brought into the buffer early in the outage, some four times those of the steady load: the drain has to
 * have work for some time.
 */
const BACKLOG_ROWS = 10_000;
/** To a store without a buffer. */
const PUTS = 300;
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
/** Asked at once, the tables would still be busy with whoever comes first. */
const AT_FIRST_MS = 250;

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
  /** Of puts to the group that is down, by a store that writes to primaries only. */
  readonly unbuffered: Outcomes;
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
  const [from, busyShare] = [Date.now(), startBusyShare()];
  await stage.wait((NORMAL_SECONDS * 1000 * seconds) / OUTAGE_SECONDS);
  const normal = { from, to: Date.now() };
  const busy = busyShare();
  say(`normal times: ${load.perSecond} puts a second, the machine is ${(busy * 100).toFixed(0)} % busy`);

  const oneOutage = async (leastSeconds: number, rows: number, meanwhile: () => Promise<void>): Promise<Outage> => {
    let damaged: DamagedRows = { holder: '', rowKeys: [] };
    const outage = await takeDown(stage, tables, async () => {
      const ended = stage.wait(leastSeconds * 1000);
      await meanwhile();
      damaged = await damageRows(datastore, tables, holders, () => rowKeyIn(random, shards, SHARDS));
      const isEnough = async (): Promise<boolean> => (await countRows(tables, holders)) >= rows;
      await addToBacklog({ datastore, shards, seed: `${seed} ${rows}`, ledger, signal }, isEnough);
      await ended;
      return damaged.rowKeys;
    });
    const fate = await fateOf(damaged, tables, signal);
    await removeDamaged(damaged, tables);
    return { ...outage, damaged: fate };
  };
  let unbuffered = noOutcomes();
  const real = await oneOutage(seconds, (BACKLOG_ROWS * seconds) / OUTAGE_SECONDS, async () => {
    const withoutBuffer = { ...access, bufferCopies: 0 };
    unbuffered = await tryPuts({ access: withoutBuffer, shards, puts: PUTS, random: new Random(seed, 'refused', 0) });
  });
  say('the control: a drain that hurries');
  const unthrottled = await oneOutage(LEASES_SECONDS, real.backlog, async () => {
    drain[Symbol.dispose]();
    await stage.drain({ settings: HURRIED });
  });

  const { written, answers: writes } = await load.stop();
  const aftermath = await stage.inspect(allWritten([written, load.before, ledger.written()]));
  return { engine, shards, writes, normal, busy, unbuffered, real, unthrottled, aftermath };
}

/**
 * kill -9 of a group's writer, which stays down while something is done meanwhile, and is started again; waits until
 * the drain has brought over whatever was buffered.
 *
 * @param meanwhile returns row keys that may wait for ever
 */
async function takeDown(
  stage: Stage,
  tables: BufferTables,
  meanwhile: () => Promise<readonly Uint8Array[]>,
): Promise<Omit<Outage, 'damaged'>> {
  const { say } = stage.world;
  const downAt = Date.now();
  const node = await stage.kill(DOWN);
  say(`kill -9 of ${node}, which stays down`);
  const except = await meanwhile();
  const others = tables.groups.filter((name) => name !== DOWN);
  const backlog = await countRows(tables, others);
  const downSeconds = (Date.now() - downAt) / 1000;
  await stage.servers.restart(node);
  await stage.untilAllRun();
  const backAt = Date.now();
  say(`${node} is back after ${downSeconds.toFixed(0)} s, with ${grouped(backlog)} rows in the buffer`);
  await stage.wait(AT_FIRST_MS);
  await comesToDrained(stage, tables, { before: backAt, except, patienceMs: PATIENCE_MS });
  const emptyAt = Date.now();
  say(`nothing of them waits any more after ${((emptyAt - backAt) / 1000).toFixed(1)} s`);
  return { down: { from: downAt, to: backAt }, drained: { from: backAt, to: emptyAt }, backlog };
}

/** Begins to measure how busy the machine is, whoever keeps it busy; ask for the share, 0 to 1, since then. */
function startBusyShare(): () => number {
  const before = times();
  return () => {
    const after = times();
    return 1 - (after.idle - before.idle) / Math.max(1, after.all - before.all);
  };
}

function times(): { readonly idle: number; readonly all: number } {
  const each = cpus().map((cpu) => cpu.times);
  const all = sumOf(each.map(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq));
  return { idle: sumOf(each.map(({ idle }) => idle)), all };
}
