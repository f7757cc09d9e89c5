import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { CONTROL } from '../../../shared/sql/names.ts';
import { grouped, sumOf, type Check, type FaultRun, type RunWorld } from '../fault-run.ts';
import { DATASTORE, type StoreAccess } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { faultsLine, untilBuffersEmpty, type Aftermath } from '../aftermath.ts';
import { allWritten, Ledger } from '../load/ledger.ts';
import { pacedLoad } from '../load/paced.ts';
import { openBufferTables, type BufferTables } from './buffer-tables.ts';
import { baseCell, rowKeyIn, shardsOf } from '../row-keys.ts';
import { Stage } from '../stage.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import { shardOf } from '../../../shared/address.ts';
import { answerBuffered } from '../../../shared/sql/statements/answer-buffered.ts';
import { insertBuffered, type BufferedCell } from '../../../shared/sql/statements/insert-buffered.ts';
import { Random } from '../../support/random.ts';

const GROUPS = ['group-1', 'group-2', 'group-3'];
const [AWAY, ...OTHERS] = GROUPS as [string, ...string[]];
const SHARDS = 48;
const AWAY_MINUTES = 20;
const WRITES_PER_SECOND = 50;
const ROWS = AWAY_MINUTES * 60 * WRITES_PER_SECOND;
/** To all groups together, beside what was filled in. */
const LOAD_PER_SECOND = 30;
/** Each of the other writers, one after the other. */
const DOWN_MS = 5000;
const BAR_SECONDS = 60;
const PATIENCE_SECONDS = 90;
const POLL_MS = 250;
/** For the rows of the group that was away, once it is back. */
const EMPTY_PATIENCE_MS = 600_000;

export const awayRun: FaultRun = {
  name: 'away',
  promise: 'Writes that were buffered are appended soon after their primary is back, whatever else is away',
  fault: `a writer is away, as for ${AWAY_MINUTES} minutes at ${WRITES_PER_SECOND} writes/s: their ${grouped(ROWS)} rows are put into each of the other groups' buffers at once; the other writers are killed for ${DOWN_MS / 1000} s, one after the other`,
  control: 'one lane for all primaries, and every run begins at the first row',
  alone: true,

  async run(world) {
    const real = await drainOwn(world);
    world.say(`the control: ${awayRun.control}`);
    const control = await drainInOneLane(world);
    const { aftermath } = real;
    return {
      checks: [drainedCheck(real.seconds, control.seconds)],
      cells: aftermath.acked,
      engine: real.engine,
      notes: [
        `copies of the groups that were down for a moment: ${real.copies.map(grouped).join(' and ')} rows; with one lane ${control.copies.map(grouped).join(' and ')}`,
        `once ${AWAY} was back, its ${grouped(ROWS)} rows and more were drained in ${real.backSeconds.toFixed(0)} s; ${grouped(aftermath.lost)} of ${grouped(aftermath.acked)} acknowledged cells lost; ${faultsLine(aftermath)}`,
      ],
    };
  },
};

function drainedCheck(real: readonly number[], control: readonly number[]): Check {
  const figureOf = (seconds: readonly number[]): string =>
    seconds.map((one) => (one < PATIENCE_SECONDS ? `${one.toFixed(1)} s` : `over ${PATIENCE_SECONDS} s`)).join(' and ');
  return {
    what: 'copies drained after their primary was back',
    figure: figureOf(real),
    bar: `within ${BAR_SECONDS} s`,
    passed: real.length === OTHERS.length && real.every((seconds) => seconds <= BAR_SECONDS),
    control: { figure: figureOf(control), failed: control.some((seconds) => seconds > BAR_SECONDS) },
  };
}

/** The store's own drain; then the group that was away comes back, too. */
async function drainOwn(
  world: RunWorld,
): Promise<Drained & { readonly engine: string; readonly aftermath: Aftermath; readonly backSeconds: number }> {
  await using stage = await Stage.start(world, 'away/real', { shards: SHARDS });
  await stage.drain();
  const ledger = new Ledger();
  const { away, load, ...drained } = await killOthers(stage, ledger);
  const { written } = await load.stop();
  await stage.servers.restart(away);
  await stage.untilAllRun();
  world.say(`${away} is back`);
  const { datastore } = await stage.open();
  const { seconds: backSeconds } = await untilBuffersEmpty(datastore, EMPTY_PATIENCE_MS, world.signal);
  const aftermath = await stage.inspect(allWritten([written, ledger.written()]));
  return { ...drained, engine: stage.engine, aftermath, backSeconds };
}

async function drainInOneLane(world: RunWorld): Promise<Drained> {
  await using stage = await Stage.start(world, 'away/control', { shards: SHARDS });
  await stage.use(
    startWorker<StoreAccess, 'stop', unknown, unknown>(new URL('one-lane-drain.ts', import.meta.url), stage.access),
  ).ready;
  const { load, ...drained } = await killOthers(stage, new Ledger());
  await load.stop();
  return drained;
}

interface Drained {
  /** Of each of the other groups, until nothing waited any more that had come while it was down. */
  readonly seconds: readonly number[];
  /** Rows that waited for it when it was back. */
  readonly copies: readonly number[];
}

/** One writer goes away and stays so; the others are killed for some seconds, one after the other, under load. */
async function killOthers(stage: Stage, ledger: Ledger) {
  const { seed, say } = stage.world;
  const tables = stage.use(openBufferTables(stage.access.groups));
  const { datastore } = await stage.open();
  const shardsOfGroups = await Promise.all(GROUPS.map((group) => shardsOf(datastore, group)));
  const ownedBy = (group: string): ReadonlySet<number> => shardsOfGroups[GROUPS.indexOf(group)] ?? new Set();
  const away = await stage.kill(AWAY);
  const shards = ownedBy(AWAY);
  await fillBuffers({ tables, holders: OTHERS, shards, ofDatastore: SHARDS, rows: ROWS, seed, ledger });
  say(`${away} is away, and ${grouped(ROWS)} rows wait for it on each of ${OTHERS.join(' and ')}`);
  const load = await pacedLoad(stage, LOAD_PER_SECOND);
  const [seconds, copies]: [number[], number[]] = [[], []];
  for (const group of OTHERS) {
    const node = await stage.kill(group);
    await stage.wait(DOWN_MS);
    await stage.servers.restart(node);
    await stage.untilAllRun({ groups: [group] });
    const holders = OTHERS.filter((holder) => holder !== group);
    const countWaiting = await waitingFor(tables, holders, ownedBy(group));
    copies.push(await countWaiting());
    const begun = performance.now();
    const patience = { pollMs: POLL_MS, patienceMs: PATIENCE_SECONDS * 1000 };
    const isDrained = await stage.comes(async () => (await countWaiting()) === 0, patience);
    const took = (performance.now() - begun) / 1000;
    seconds.push(took);
    say(
      `${node} was down for ${DOWN_MS / 1000} s; the ${grouped(copies.at(-1) ?? 0)} rows for it ${isDrained ? `were drained ${took.toFixed(1)} s after it was back` : `wait still, ${PATIENCE_SECONDS} s after it was back`}`,
    );
  }
  return { away, load, seconds, copies };
}

/** Counts the rows that wait in some groups for shards, and came up to now. */
async function waitingFor(
  tables: BufferTables,
  holders: readonly string[],
  shards: ReadonlySet<number>,
): Promise<() => Promise<number>> {
  const ask = async (holder: string, sql: string, parameters: readonly number[]): Promise<number> =>
    toNumber((await tables.rows(sql, parameters, [holder]))[0]?.[0]);
  const lastId = `SELECT COALESCE(MAX(id), 0) FROM ${CONTROL}.buffer`;
  const last = await Promise.all(holders.map((holder) => ask(holder, lastId, [])));
  const sql = `SELECT COUNT(*) FROM ${CONTROL}.buffer WHERE state = 'waiting' AND shard IN (${[...shards].join(', ')}) AND id <= ?`;
  return async () =>
    sumOf(await Promise.all(holders.map((holder, position) => ask(holder, sql, [last[position] ?? 0]))));
}

export interface Filling {
  readonly tables: BufferTables;
  /** Each gets a copy of every write, as while its primary is down. */
  readonly holders: readonly string[];
  /** Those of the primary that is away. */
  readonly shards: ReadonlySet<number>;
  /** Of the datastore. */
  readonly ofDatastore: number;
  readonly rows: number;
  readonly seed: string;
  /** What was written is noted here as answered `buffered`. */
  readonly ledger: Ledger;
}

const BATCH = 200;

/**
 * Puts into the buffer tables what minutes of writes to a primary that is away leave there, with the write path's own
 * statements.
 */
export async function fillBuffers(options: Filling): Promise<void> {
  const { tables, holders, shards, ofDatastore, rows, seed, ledger } = options;
  const random = new Random(seed, 'away', 0);
  for (let start = 0; start < rows; start += BATCH) {
    const cells = Array.from({ length: BATCH }, (_, position): BufferedCell => {
      const body = { number: start + position, note: 'a'.repeat(random.integer(0, 120)) };
      const row_key = rowKeyIn(random, shards, ofDatastore);
      return { ...baseCell(row_key, body), encoded: encodeBody(body), shard: shardOf(row_key, ofDatastore) };
    });
    await Promise.all(
      holders.map(async (holder) => {
        await tables.client(holder).change(insertBuffered(DATASTORE, cells));
        await tables.client(holder).change(answerBuffered(DATASTORE, cells));
      }),
    );
    for (const { shard, ...cell } of cells) ledger.note(cell, { outcome: 'buffered', shard, copies: holders.length });
  }
}
