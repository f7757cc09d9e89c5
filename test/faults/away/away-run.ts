import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { CONTROL } from '../../../shared/sql/names.ts';
import { faultsLine, inspect, type Aftermath } from '../aftermath.ts';
import { untilBuffersEmpty } from '../buffers.ts';
import { startCluster } from '../../support/cluster.ts';
import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { untilAllRun } from '../kill/kills.ts';
import { allWritten, Ledger } from '../load/ledger.ts';
import { openBufferTables, type BufferTables } from '../outage/buffer-tables.ts';
import { shardsOf } from '../outage/group-shards.ts';
import type { PacedLoad, PacedProgress, PacedWritten } from '../outage/paced-load.ts';
import { openStore, PATIENT, type StoreAccess } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { fillBuffers } from './fill-buffers.ts';

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
  fault: `a writer is away, as for ${AWAY_MINUTES} minutes at ${WRITES_PER_SECOND} writes/s: their ${ROWS.toLocaleString('en-US')} rows are put into each of the other groups' buffers at once; the other writers are killed for ${DOWN_MS / 1000} s, one after the other`,
  control: 'one lane for all primaries, and every run begins at the first row',
  alone: true,

  async run(world: RunWorld): Promise<RunOutcome> {
    const real = await partOf(world, 'real', new URL('../../support/workers/drain-thread.ts', import.meta.url));
    world.say(`the control: ${awayRun.control}`);
    const control = await partOf(world, 'control', new URL('one-lane-drain.ts', import.meta.url));
    const { aftermath } = real;
    return {
      checks: [drainedCheck(real.seconds, control.seconds)],
      cells: real.acked,
      engine: real.engine,
      notes: [
        `copies of the groups that were down for a moment: ${real.copies.map(count).join(' and ')} rows; with one lane ${control.copies.map(count).join(' and ')}`,
        ...(aftermath ? [`once ${AWAY} was back, its ${count(ROWS)} rows and more were drained in ${real.backSeconds.toFixed(0)} s; ${count(aftermath.lost)} of ${count(aftermath.acked)} acknowledged cells lost; ${faultsLine(aftermath)}`] : []),
      ],
    };
  },
};

function drainedCheck(real: readonly number[], control: readonly number[]): Check {
  const figureOf = (seconds: readonly number[]): string => seconds.map((one) => (one < PATIENCE_SECONDS ? `${one.toFixed(1)} s` : `over ${PATIENCE_SECONDS} s`)).join(' and ');
  return {
    what: 'copies drained after their primary was back',
    figure: figureOf(real),
    bar: `within ${BAR_SECONDS} s`,
    passed: real.length === OTHERS.length && real.every((seconds) => seconds <= BAR_SECONDS),
    control: { figure: figureOf(control), failed: control.some((seconds) => seconds > BAR_SECONDS) },
  };
}

interface Part {
  readonly engine: string;
  readonly acked: number;
  /** Of each of the other groups, until nothing waited any more that had come while it was down. */
  readonly seconds: readonly number[];
  /** Rows that waited for it when it was back. */
  readonly copies: readonly number[];
  /** Only of the store's own drain. */
  readonly aftermath: Aftermath | undefined;
  readonly backSeconds: number;
}

async function partOf({ folder, engine, seed, history, signal, say }: RunWorld, part: 'real' | 'control', drainThread: URL): Promise<Part> {
  await using cluster = await startCluster({ folder: join(folder, part), engine, groups: GROUPS.length, readers: 1, shards: SHARDS, bufferCopies: 1 });
  const { access, servers } = cluster;
  await using tables = openBufferTables(access.groups);
  await using store = await openStore({ ...access, sql: PATIENT });
  const shards = new Map(await Promise.all(GROUPS.map(async (group) => [group, await shardsOf(store.datastore, group)] as const)));
  using drain = startWorker<StoreAccess, 'stop', unknown, unknown>(drainThread, access);
  await drain.ready;
  const away = await killWriter(servers, AWAY);
  const ledger = new Ledger();
  await fillBuffers({ tables, holders: OTHERS, shards: shards.get(AWAY) ?? new Set(), ofDatastore: SHARDS, rows: ROWS, seed, ledger });
  say(`${away} is away, and ${count(ROWS)} rows wait for it on each of ${OTHERS.join(' and ')}`);
  using load = startWorker<PacedLoad, 'stop', PacedProgress, PacedWritten>(new URL('../outage/paced-load.ts', import.meta.url), { access, perSecond: LOAD_PER_SECOND, seed: `${seed} ${part}`, run: `away/${part}`, history });
  await load.ready;

  const [seconds, copies]: [number[], number[]] = [[], []];
  for (const group of OTHERS) {
    const node = await killWriter(servers, group);
    await sleep(DOWN_MS, undefined, { signal });
    await servers.restart(node);
    await untilRuns(servers, node, signal);
    const waiting = await waitingFor(tables, OTHERS.filter((holder) => holder !== group), shards.get(group) ?? new Set());
    copies.push(await waiting.count());
    const begun = performance.now();
    while ((await waiting.count()) > 0 && performance.now() - begun < PATIENCE_SECONDS * 1000) await sleep(POLL_MS, undefined, { signal });
    seconds.push((performance.now() - begun) / 1000);
    say(`${node} was down for ${DOWN_MS / 1000} s; the ${count(copies.at(-1) ?? 0)} rows for it ${(seconds.at(-1) ?? 0) < PATIENCE_SECONDS ? `were drained ${(seconds.at(-1) ?? 0).toFixed(1)} s after it was back` : `wait still, ${PATIENCE_SECONDS} s after it was back`}`);
  }
  const { written } = await load.stop('stop');
  const all = allWritten([written, ledger.written()]);
  if (part === 'control') return { engine: cluster.engine, acked: all.acked.length, seconds, copies, aftermath: undefined, backSeconds: 0 };
  await servers.restart(away);
  await untilAllRun(servers, signal);
  say(`${away} is back`);
  const { seconds: backSeconds } = await untilBuffersEmpty(store.datastore, EMPTY_PATIENCE_MS, signal);
  return { engine: cluster.engine, acked: all.acked.length, seconds, copies, aftermath: await inspect({ datastore: store.datastore, groups: access.groups, written: all, signal }), backSeconds };
}

/** kill -9; it stays down. */
async function killWriter(servers: ShardGroups, group: string): Promise<string> {
  const writer = servers.status().find((node) => node.group === group && node.role === 'writer');
  if (!writer) throw new Error(`${group} has no writer`);
  await servers.kill(writer.node);
  return writer.node;
}

async function untilRuns(servers: ShardGroups, node: string, signal: AbortSignal): Promise<void> {
  while (servers.status().find((one) => one.node === node)?.state !== 'running') await sleep(POLL_MS, undefined, { signal });
}

/** The rows that wait in some groups for shards, and came up to now. */
async function waitingFor(tables: BufferTables, holders: readonly string[], shards: ReadonlySet<number>): Promise<{ count(): Promise<number> }> {
  const ask = async (holder: string, sql: string, parameters: readonly number[]): Promise<number> => toNumber((await tables.client(holder).select({ sql, parameters }, 'writer'))[0]?.[0]);
  const last = new Map(await Promise.all(holders.map(async (holder) => [holder, await ask(holder, `SELECT COALESCE(MAX(id), 0) FROM ${CONTROL}.buffer`, [])] as const)));
  const sql = `SELECT COUNT(*) FROM ${CONTROL}.buffer WHERE state = 'waiting' AND shard IN (${[...shards].join(', ')}) AND id <= ?`;
  return { count: async () => (await Promise.all([...last].map(([holder, id]) => ask(holder, sql, [id])))).reduce((sum, rows) => sum + rows, 0) };
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
