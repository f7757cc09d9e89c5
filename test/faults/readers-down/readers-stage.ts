import { setTimeout as sleep } from 'node:timers/promises';
import { inspect, type Aftermath } from '../aftermath.ts';
import { startCluster } from '../../support/cluster.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { untilAllRun } from '../kill/kills.ts';
import { openBufferTables, someWaitSince } from '../outage/buffer-tables.ts';
import { shardsOf } from '../outage/group-shards.ts';
import { clock } from '../outage/latency.ts';
import type { PacedLoad, PacedProgress, PacedWrite, PacedWritten } from '../outage/paced-load.ts';
import type { VariedDrain } from '../outage/varied-drain-thread.ts';
import { allWritten } from '../load/ledger.ts';
import { findSteadyRate } from '../outage/steady-rate.ts';
import { openStore } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { takeSnapshot, type BufferSnapshot } from './early-deletes.ts';
import { putWithReaders, type ReaderBound } from './reader-bound-puts.ts';
import { readerOnly, startReaderReads, writeCells, type ReaderRead } from './reader-reads.ts';

const GROUPS = 3;
const SHARDS = 48;
const GROUP = 'group-1';
/** All outages together; they take turns with normal times, so that what else the machine does falls on both. */
export const DOWN_SECONDS = 60;
const OUTAGES = 3;
const WARM_UP_SECONDS = 6;
/** The control's drain takes the leases of the one before it when these have run out, and looks at rows of two seconds. */
const CONTROL_SECONDS = 18;
const EMPTY_PATIENCE_MS = 60_000;
const POLL_MS = 250;

/** Moments in milliseconds since 1970. */
export interface Phase {
  readonly from: number;
  readonly to: number;
}

/** A time without readers. */
export interface ReadersDown extends Phase {
  /** What was in the buffer tables just before the readers came back. */
  readonly snapshot: BufferSnapshot;
  /** From the readers' return until nothing waited that was buffered before; Infinity where that did not come. */
  readonly emptySeconds: number;
}

export interface ReadersStory {
  readonly engine: string;
  readonly shards: ReadonlySet<number>;
  readonly writes: readonly PacedWrite[];
  readonly normal: readonly Phase[];
  readonly down: readonly ReadersDown[];
  readonly reads: readonly ReaderRead[];
  readonly readerOnlyReads: readonly ReaderRead[];
  readonly readerBound: ReaderBound;
  /** With a drain that asks the writer only. */
  readonly control: ReadersDown;
  readonly aftermath: Aftermath;
}

/** Normal times and times without the readers of a group, in turn, under one load. */
export async function readersStory(world: RunWorld): Promise<ReadersStory> {
  const { folder, engine, seed, history, signal, say, seconds = DOWN_SECONDS } = world;
  await using cluster = await startCluster({ folder, engine, groups: GROUPS, readers: 1, shards: SHARDS, bufferCopies: 1 });
  const { access, servers } = cluster;
  await using tables = openBufferTables(access.groups);
  await using store = await openStore(access);
  const shards = await shardsOf(store.datastore, GROUP);
  const cells = await writeCells(store, shards, seed);
  using drains = new DisposableStack();
  const startDrain = (asksWriterOnly: boolean) =>
    drains.use(startWorker<VariedDrain, 'stop', never, void>(new URL('../outage/varied-drain-thread.ts', import.meta.url), { access, asksWriterOnly }));
  const drain = startDrain(false);
  await drain.ready;
  const rate = await findSteadyRate(access, seed, signal);
  using load = startWorker<PacedLoad, 'stop', PacedProgress, PacedWritten>(new URL('../outage/paced-load.ts', import.meta.url), { access, perSecond: rate.perSecond, seed, run: 'readers-down', history });
  await load.ready;
  await sleep(WARM_UP_SECONDS * 1000, undefined, { signal });
  await using reading = await startReaderReads(access, cells);
  await using readingReaders = await startReaderReads(access, cells, readerOnly);

  const phaseMs = (seconds * 1000) / OUTAGES;
  const inNormalTimes = async (milliseconds: number): Promise<Phase> => {
    const from = clock();
    await sleep(milliseconds, undefined, { signal });
    return { from, to: clock() };
  };
  const withoutReaders = async (milliseconds: number, meanwhile: () => Promise<void>): Promise<ReadersDown> => {
    const readers = servers.status().filter(({ group, role }) => group === GROUP && role === 'reader');
    for (const { node } of readers) await servers.kill(node);
    const from = clock();
    const ended = sleep(milliseconds, undefined, { signal });
    await meanwhile();
    await ended;
    const to = clock();
    const snapshot = await takeSnapshot(tables, shards);
    for (const { node } of readers) await servers.restart(node);
    await untilAllRun(servers, signal);
    const backAt = clock();
    const emptied = async (): Promise<boolean> => !(await someWaitSince(tables, backAt, []));
    while (!(await emptied()) && clock() - backAt < EMPTY_PATIENCE_MS) await sleep(POLL_MS, undefined, { signal });
    const emptySeconds = (await emptied()) ? (clock() - backAt) / 1000 : Number.POSITIVE_INFINITY;
    say(`the readers of ${GROUP} were down for ${((to - from) / 1000).toFixed(0)} s, ${snapshot.rowKeys.size.toLocaleString('en-US')} rows waited for them, the last until ${emptySeconds.toFixed(1)} s after`);
    return { from, to, snapshot, emptySeconds };
  };

  const normal = [await inNormalTimes(phaseMs / 2)];
  const down: ReadersDown[] = [];
  for (let outage = 1; outage <= OUTAGES; outage += 1) {
    down.push(await withoutReaders(phaseMs, async () => undefined));
    normal.push(await inNormalTimes(outage < OUTAGES ? phaseMs : phaseMs / 2));
  }
  say('the control: a drain that asks the writer only');
  let readerBound: ReaderBound = { tried: 0, stored: 0 };
  const control = await withoutReaders(CONTROL_SECONDS * 1000, async () => {
    drain[Symbol.dispose]();
    await startDrain(true).ready;
    readerBound = await putWithReaders(access, shards, seed);
  });
  const { written, writes } = await load.stop('stop');
  const aftermath = await inspect({ datastore: store.datastore, groups: access.groups, written: allWritten([written, rate.written]), signal });
  return { engine: cluster.engine, shards, writes, normal, down, reads: reading.reads, readerOnlyReads: readingReaders.reads, readerBound, control, aftermath };
}
