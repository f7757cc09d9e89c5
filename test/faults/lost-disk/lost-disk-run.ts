import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../support/random.ts';
import { faultsLine, lossCheck } from '../aftermath.ts';
import type { Check, FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { DrainCounts } from '../../support/workers/drain-thread.ts';
import type { Mix } from '../load/cell-source.ts';
import { outcomesLine } from '../load/ledger.ts';
import { startLoad } from '../load/start-load.ts';
import { startStage, type Stage } from '../../support/indexed/stage.ts';
import { DATASTORE, type StoreAccess } from '../../support/store-access.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import type { Copies } from './copies.ts';
import { inspectLosses, type LostAftermath } from './inspect-losses.ts';
import { loseDisk, type DiskLoss } from './lose-disk.ts';

const GROUPS = ['group-1', 'group-2', 'group-3'];
const READERS = 2;
const SHARDS = 24;
const WRITERS = 12;
const CELLS = 5000;
/** Cells that only the lagging reader does not show: so many copies at least have to be there still. */
const COPIES = 200;
/** The drain looks at rows from 2 s on, about once a second. */
const LAG_MS = 6000;
const POLL_MS = 50;
/** No repeats: a cell that is lost for a moment is rightly `stored` once more when its writer repeats it. */
const MIX: Mix = { batchShare: 0, batchSize: 1, repeatShare: 0 };

export const lostDiskRun: FaultRun = {
  name: 'lost-disk',
  promise: 'An acknowledged write is never lost, also when its primary dies with its disk',
  fault: `${GROUPS.length} writers die with their disks under ${WRITERS} writers, each while one reader of its group is stopped and the other, which is promoted, lacks the last ${LAG_MS / 1000} s`,
  control: 'no buffer; a drain that takes the word of one reader',

  async run(world: RunWorld): Promise<RunOutcome> {
    const { say } = world;
    const real = await inStage(world, 'real', async (stage, access) => {
      using drain = startWorker<StoreAccess, 'stop', DrainCounts, DrainCounts>(new URL('../../support/workers/drain-thread.ts', import.meta.url), access);
      await drain.ready;
      const lost = await loseUnderLoad(world, { stage, access, part: 'real', losing: GROUPS, cells: CELLS });
      // Throws what it died of, if it did.
      return { ...lost, drained: drain.progress };
    });
    say(`the control: ${lostDiskRun.control}`);
    const [unbuffered, believing] = await inStage(world, 'control', async (stage, access) => {
      using drain = startWorker<StoreAccess, 'stop', never, undefined>(new URL('one-reader-drain.ts', import.meta.url), access);
      await drain.ready;
      const one = await loseUnderLoad(world, { stage, access, part: 'believing', losing: ['group-1'] });
      return [await loseUnderLoad(world, { stage, access: { ...access, bufferCopies: 0 }, part: 'unbuffered', losing: ['group-2'] }), one];
    });
    const { aftermath } = real;
    return {
      checks: [lossCheck('acknowledged cells lost, other faults', aftermath, unbuffered.aftermath, CELLS), copiesCheck(real.losses, believing)],
      cells: aftermath.acked,
      engine: real.engine,
      notes: [
        outcomesLine(aftermath.outcomes),
        `lost with the disks: at least ${count(sum(real.losses, 'ahead'))} cells; ${count(real.again)} acknowledged cells were appended again, behind the cuts; buffers empty ${aftermath.drainSeconds.toFixed(1)} s after the load`,
        `buffered writes: ${Object.entries({ ...real.drained }).map(([what, many]) => `${what} ${count(many)}`).join(', ')}`,
        faultsLine(aftermath),
        ...aftermath.wrongExamples,
        `without a buffer: ${count(unbuffered.aftermath.lost)} of ${count(unbuffered.aftermath.acked)} lost; ${faultsLine(unbuffered.aftermath)}`,
        `with the word of one reader: ${count(believing.aftermath.lost)} of ${count(believing.aftermath.acked)} lost; ${faultsLine(believing.aftermath)}`,
      ],
    };
  },
};

/** Copies may go only when every reader that could be promoted shows the cell: also the one that lags. */
function copiesCheck(losses: readonly DiskLoss[], control: Lost): Check {
  const figureOf = (ones: readonly DiskLoss[]): string => `${count(sum(ones, 'uncopied'))} of ${count(sum(ones, 'ahead'))}`;
  return {
    what: 'copies deleted before every reader showed the cell',
    figure: figureOf(losses),
    bar: `0 of at least ${COPIES}`,
    passed: sum(losses, 'uncopied') === 0 && sum(losses, 'ahead') >= COPIES,
    control: { figure: `${figureOf(control.losses)}, ${count(control.aftermath.lost)} lost`, failed: sum(control.losses, 'uncopied') > 0 && control.aftermath.lost > 0 },
  };
}

interface Lost extends LostAftermath {
  readonly engine: string;
  readonly losses: readonly DiskLoss[];
}

interface LossRun {
  readonly stage: Stage;
  readonly access: StoreAccess;
  readonly part: string;
  /** Groups, each once: a log is cut at one place. */
  readonly losing: readonly string[];
  /** The load goes on until so many are acknowledged. @default it ends with the last loss */
  readonly cells?: number;
}

async function inStage<T>({ folder, engine }: RunWorld, part: string, work: (stage: Stage, access: StoreAccess) => Promise<T>): Promise<T> {
  await using stage = await startStage({ folder: join(folder, part), engine, groups: GROUPS.length, readers: READERS, shards: SHARDS, bufferCopies: 1, promotes: true });
  return await work(stage, await stage.define(DATASTORE, []));
}

async function loseUnderLoad({ seed, history, signal, say }: RunWorld, { stage, access, part, losing, cells = 0 }: LossRun): Promise<Lost> {
  const random = new Random(seed, `losses ${part}`, 0);
  using load = startLoad({ target: { kind: 'store', access }, writers: WRITERS, seed: `${seed} ${part}`, mix: MIX, run: `lost-disk/${part}`, history });
  await load.ready;
  const losses: DiskLoss[] = [];
  for (const group of losing) losses.push(await loseDisk({ stage, groups: access.groups, group, random, lagMs: LAG_MS, signal, say }));
  while (load.acked < cells) await sleep(POLL_MS, undefined, { signal });
  const written = await load.stop();
  say(`${count(written.acked.length)} cells acknowledged; waiting for the buffers, then reading all back`);

  return { engine: stage.engine, losses, ...(await inspectLosses({ access, written, losses, signal })) };
}

function sum(losses: readonly DiskLoss[], what: keyof Copies): number {
  return losses.reduce((all, loss) => all + loss[what], 0);
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
