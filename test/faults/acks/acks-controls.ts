import { join } from 'node:path';
import { startCluster } from '../../support/cluster.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { compareKept, storedLogs } from '../stored-logs.ts';
import { openAnswerCutter } from './answer-cutter.ts';
import { CUT_SHARE } from './acks-stage.ts';
import { judgeAnswers } from './judge-answers.ts';
import { readCellsThere } from './stored-cells.ts';
import { dropUniqueKeys } from './without-unique-keys.ts';
import { writeThrough } from './write-through.ts';

const GROUPS = 3;
const SHARDS = 12;
const CELLS = 1500;

export interface AcksControls {
  /** Where nobody tries again: cells on the primary whose writer was told less. */
  readonly untold: number;
  readonly ofCells: number;
  /** Where the same cell may be appended again: cells stored more than once, answers that were not true. */
  readonly doubled: number;
  readonly untrue: number;
}

/** The same cuts, first where nobody tries again what ended unclear, then where it is tried again on tables without unique key. */
export async function carryOutControls({ folder, engine, seed, signal }: RunWorld): Promise<AcksControls> {
  await using cluster = await startCluster({ folder: join(folder, 'control'), engine, groups: GROUPS, readers: 0, shards: SHARDS, bufferCopies: 1 });
  const { groups } = cluster.access;
  await using cutter = await openAnswerCutter(groups, CUT_SHARE, seed);
  const access: StoreAccess = { ...cluster.access, groups: cutter.groups };
  const common = { access, otherShare: 0, history: undefined };

  const once = await writeThrough({ ...common, seed: `${seed} once`, triesAgain: false, run: 'acks/control' }, CELLS, signal);
  const { untold } = judgeAnswers(once.answers, await readCellsThere(groups));

  await dropUniqueKeys(groups);
  const again = await writeThrough({ ...common, seed: `${seed} no key`, triesAgain: true, run: 'acks/control' }, CELLS, signal);
  const { doubled } = compareKept(again.written.acked, await storedLogs(groups));
  const { untrue } = judgeAnswers(again.answers, await readCellsThere(groups));
  return { untold, ofCells: once.written.acked.length, doubled, untrue };
}
