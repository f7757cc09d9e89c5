import type { BufferedCell } from '../../../shared/sql/encoded-cell.ts';
import { shardOf } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { CONTROL } from '../../../shared/sql/names.ts';
import { answerBuffered } from '../../../shared/sql/statements/change-buffered.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { Random } from '../../support/random.ts';
import { DATASTORE, type StoreAccess } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { untilBuffersEmpty } from '../aftermath.ts';
import { grouped, sumOf } from '../fault-run.ts';
import { allWritten, Ledger } from '../load/ledger.ts';
import { pacedLoad } from '../load/paced.ts';
import { baseCell, rowKeyIn, shardsOf } from '../row-keys.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { openBufferTables, type BufferTables } from './buffer-tables.ts';

const GROUPS = ['group-1', 'group-2', 'group-3'];
const [UNAVAILABLE, ...OTHERS] = GROUPS as [string, ...string[]];
const SHARDS = 48;
const UNAVAILABLE_MINUTES = 20;
const WRITES_PER_SECOND = 50;
const ROWS = UNAVAILABLE_MINUTES * 60 * WRITES_PER_SECOND;
/** Writes to all groups in total, in addition to the prefilled rows. */
const LOAD_PER_SECOND = 30;
const DOWN_MS = 5000;
const BAR_SECONDS = 60;
const PATIENCE_SECONDS = 90;
const POLL_MS = 250;
/** The time for the rows of the unavailable group, once it is back. */
const EMPTY_PATIENCE_MS = 600_000;
const BATCH = 200;

export const unavailableRun = stagedRun({
  name: 'unavailable',
  promise: 'Buffered writes are appended soon after their primary is back, whatever else is unavailable',
  fault: `a writer unavailable as for ${UNAVAILABLE_MINUTES} minutes at ${WRITES_PER_SECOND} writes/s: ${grouped(ROWS)} rows put into each other group's buffers at once; the other writers killed for ${DOWN_MS / 1000} s in turn`,
  control: 'one lane for all primaries, and every run begins at the first row',
  alone: true,
  servers: { shards: SHARDS },
  controlServers: {},
  async real(stage) {
    await stage.drain();
    const ledger = new Ledger();
    const { unavailable, load, ...drained } = await killOthers(stage, ledger);
    const { written } = await load.stop();
    await stage.servers.restart(unavailable);
    await stage.untilAllRun();
    stage.say(`${unavailable} is back`);
    const { datastore } = await stage.open();
    const { seconds: backSeconds } = await untilBuffersEmpty(datastore, EMPTY_PATIENCE_MS, stage.world.signal);
    const aftermath = await stage.inspect(allWritten([written, ledger.written()]));
    return { ...drained, aftermath, backSeconds };
  },
  async without(stage) {
    const module = new URL('one-lane-drain.ts', import.meta.url);
    await stage.use(startWorker<StoreAccess, 'stop', unknown, unknown>(module, stage.access)).ready;
    const { load, ...drained } = await killOthers(stage, new Ledger());
    await load.stop();
    return drained;
  },
  judge(real, control) {
    const { aftermath } = real;
    const resultOf = (seconds: readonly number[]): string =>
      seconds
        .map((one) => (one < PATIENCE_SECONDS ? `${one.toFixed(1)} s` : `over ${PATIENCE_SECONDS} s`))
        .join(' and ');
    return {
      checks: [
        {
          what: 'copies drained after their primary was back',
          result: resultOf(real.seconds),
          bar: `within ${BAR_SECONDS} s`,
          passed: real.seconds.length === OTHERS.length && real.seconds.every((seconds) => seconds <= BAR_SECONDS),
          control: {
            result: resultOf(control.seconds),
            failed: control.seconds.some((seconds) => seconds > BAR_SECONDS),
          },
        },
      ],
      notes: [
        `copies of the groups that were down for a moment: ${real.copies.map(grouped).join(' and ')} rows; with one lane ${control.copies.map(grouped).join(' and ')}`,
        `once ${UNAVAILABLE} was back, its ${grouped(ROWS)} rows and more were drained in ${real.backSeconds.toFixed(0)} s; ${grouped(aftermath.lost)} acknowledged cells lost`,
      ],
    };
  },
});

/**
 * Makes one writer unavailable for good; kills the others for some seconds, one after the other, under load. Returns
 * for each of these how many rows waited at its return, and in how many seconds they were drained.
 */
async function killOthers(stage: Stage, ledger: Ledger) {
  const tables = stage.use(openBufferTables(stage.access.groups));
  const { datastore } = await stage.open();
  const shardsOfGroups = await Promise.all(GROUPS.map((group) => shardsOf(datastore, group)));
  const ownedBy = (group: string): ReadonlySet<number> => shardsOfGroups[GROUPS.indexOf(group)] ?? new Set();
  const unavailable = await stage.kill(UNAVAILABLE);
  await fillBuffers(tables, ownedBy(UNAVAILABLE), stage.world.seed, ledger);
  stage.say(`${unavailable} is away, and ${grouped(ROWS)} rows wait for it on each of ${OTHERS.join(' and ')}`);
  const load = await pacedLoad(stage, LOAD_PER_SECOND);
  const [seconds, copies]: [number[], number[]] = [[], []];
  for (const group of OTHERS) {
    const node = await stage.kill(group);
    await stage.wait(DOWN_MS);
    await stage.servers.restart(node);
    await stage.untilAllRun({ groups: [group] });
    const holders = OTHERS.filter((holder) => holder !== group);
    const countWaiting = await waitingFor(tables, holders, ownedBy(group));
    const waited = await countWaiting();
    const begun = performance.now();
    const patience = { pollMs: POLL_MS, patienceMs: PATIENCE_SECONDS * 1000 };
    const isDrained = await stage.comes(async () => (await countWaiting()) === 0, patience);
    const took = (performance.now() - begun) / 1000;
    copies.push(waited);
    seconds.push(took);
    stage.say(
      `${node} was down for ${DOWN_MS / 1000} s; the ${grouped(waited)} rows for it ${isDrained ? 'were drained' : 'wait still'} ${took.toFixed(1)} s after it was back`,
    );
  }
  return { unavailable, load, seconds, copies };
}

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

/** Puts into the other groups' buffer tables the rows of minutes of writes, with the write path's statements. */
async function fillBuffers(
  tables: BufferTables,
  shards: ReadonlySet<number>,
  seed: string,
  ledger: Ledger,
): Promise<void> {
  const random = new Random(seed, 'unavailable', 0);
  for (let start = 0; start < ROWS; start += BATCH) {
    const cells = Array.from({ length: BATCH }, (_, position): BufferedCell => {
      const body = { number: start + position, note: 'a'.repeat(random.integer(0, 120)) };
      const row_key = rowKeyIn(random, shards, SHARDS);
      return {
        ...baseCell(row_key, body),
        encoded: encodeBody(body),
        shard: shardOf(row_key, SHARDS),
        writer: new Uint8Array(8),
      };
    });
    const fill = async (holder: string): Promise<void> => {
      await tables.client(holder).change(insertBuffered(DATASTORE, cells));
      await tables.client(holder).change(answerBuffered(DATASTORE, cells));
    };
    await Promise.all(OTHERS.map(fill));
    for (const { shard, ...cell } of cells) ledger.note(cell, { outcome: 'buffered', shard, copies: OTHERS.length });
  }
}
