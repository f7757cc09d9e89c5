import { join } from 'node:path';
import { inspect, type Aftermath } from '../aftermath.ts';
import { untilBuffersEmpty } from '../buffers.ts';
import { startCluster } from '../../support/cluster.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { DrainCounts } from '../../support/workers/drain-thread.ts';
import { allWritten } from '../load/ledger.ts';
import { openStore, type StoreAccess } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { openAnswerCutter, type AnswerCutter } from './answer-cutter.ts';
import { isTold, type Answer } from './ask.ts';
import { judgeAnswers, type Judged } from './judge-answers.ts';
import { discardConflicts, type KeptConflicts } from './kept-conflicts.ts';
import { killInstances, type InDoubt } from './killed-instances.ts';
import { addressOf, readCellsThere, type CellsThere } from './stored-cells.ts';
import { MIX, writeThrough } from './write-through.ts';

const GROUPS = 3;
const SHARDS = 48;
export const CUT_SHARE = 0.1;
const CELLS = 5500;
const OTHER_SHARE = 0.05;
/** Processes are killed while so many milliseconds pass between what a server did and its answer. */
const HELD_MS = 20;
const BUFFER_PATIENCE_MS = 120_000;

export interface Acks {
  readonly engine: string;
  readonly aftermath: Aftermath;
  readonly judged: Judged;
  readonly conflicts: KeptConflicts;
  readonly cuts: AnswerCutter['counts'];
  readonly circuitsOpened: number;
  readonly killed: KillsJudged;
}

export interface KillsJudged {
  readonly kills: number;
  /** Cells whose writer died before it was told anything. */
  readonly inDoubt: number;
  /** Those that were on the primary when it died. */
  readonly there: number;
  /** Those that nobody was told of after all, and answers that were not true. */
  readonly unsettled: number;
  readonly examples: readonly string[];
}

/** Writers whose answers are cut off, then processes that are killed in the middle of writes; everything is judged when the buffers are empty. */
export async function carryOut(world: RunWorld): Promise<Acks> {
  const { folder, engine, seed, history, signal, say } = world;
  await using cluster = await startCluster({ folder: join(folder, 'real'), engine, groups: GROUPS, readers: 1, shards: SHARDS, bufferCopies: 1 });
  await using cutter = await openAnswerCutter(cluster.access.groups, CUT_SHARE, seed);
  const access: StoreAccess = { ...cluster.access, groups: cutter.groups };
  using drain = startWorker<StoreAccess, 'stop', DrainCounts, DrainCounts>(new URL('../../support/workers/drain-thread.ts', import.meta.url), access);
  await drain.ready;
  const load = await writeThrough({ access, seed, otherShare: OTHER_SHARE, triesAgain: true, run: 'acks', history }, CELLS, signal);
  say(`${load.written.acked.length.toLocaleString('en-US')} cells acknowledged; now processes are killed`);

  cutter.hold(HELD_MS);
  await using heir = await openStore(access);
  const killed = await killInstances({ folder, access, datastore: heir.datastore, seed, mix: MIX, history, signal });
  cutter.hold(0);
  say(`${killed.kills} processes killed; waiting for the buffers, then reading all back`);

  await using store = await openStore(cluster.access);
  await untilBuffersEmpty(store.datastore, BUFFER_PATIENCE_MS, signal);
  const there = await readCellsThere(cluster.access.groups);
  const conflicts = await discardConflicts(store.datastore, there);
  return {
    engine: cluster.engine,
    aftermath: await inspect({ datastore: store.datastore, groups: cluster.access.groups, written: allWritten([load.written, killed.written]), signal }),
    judged: judgeAnswers(load.answers, there),
    conflicts,
    cuts: cutter.counts,
    circuitsOpened: load.circuitsOpened,
    killed: { kills: killed.kills, ...judgeDoubts(killed.inDoubt, killed.answers, there) },
  };
}

function judgeDoubts(inDoubt: readonly InDoubt[], answers: readonly Answer[], there: CellsThere): Omit<KillsJudged, 'kills'> {
  const told = new Set(answers.filter(isTold).map(addressOf));
  const { untrue, examples } = judgeAnswers(answers, there);
  return {
    inDoubt: inDoubt.length,
    there: inDoubt.filter(({ cell, diedAt }) => (there.get(addressOf(cell))?.createdAt ?? Infinity) < diedAt).length,
    unsettled: inDoubt.filter(({ cell }) => !told.has(addressOf(cell)) || !there.has(addressOf(cell))).length + untrue,
    examples,
  };
}
