import { Random } from '../../support/random.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { faultsLine, lossCheck } from '../aftermath.ts';
import { countsLine, grouped, shareResult, sumOf, type Share } from '../fault-run.ts';
import { NEW_CELLS } from '../load/cell-source.ts';
import type { Stage } from '../stage.ts';
import { stagedRun } from '../staged-run.ts';
import { inspectLosses, loseDisk, type DiskLoss, type DiskLossOptions, type LostAftermath } from './lose-disk.ts';

const GROUPS = ['group-1', 'group-2', 'group-3'];
const WRITERS = 12;
const CELLS = 5000;
/** Cells that only the lagging reader lacks: at least this many copies must still be there. */
const COPIES = 200;
/** The drain polls rows from 2 s on, about once a second. */
const LAG_MS = 6000;

export const lostDiskRun = stagedRun({
  name: 'lost-disk',
  promise: 'An acknowledged write is never lost, also when its primary dies with its disk',
  fault: `${GROUPS.length} writers die with their disks under ${WRITERS} writers, each while one reader of its group is stopped and the other, which is promoted, lacks the last ${LAG_MS / 1000} s`,
  control: 'no buffer; a drain that takes the word of one reader',
  servers: { groups: GROUPS.length, readers: 2, shards: 24, promotes: true },
  controlServers: {},
  async real(stage) {
    const drain = await stage.drain();
    const lost = await loseUnderLoad(stage, { losing: GROUPS, cells: CELLS });
    // Throws the error that the drain died of, if any.
    return { ...lost, drained: countsLine(drain.progress ?? {}) };
  },
  async without(stage) {
    const { seed } = stage.world;
    await stage.drain({ access: stage.without('everyReader') });
    const believing = await loseUnderLoad(stage, {
      losing: ['group-1'],
      seed: `${seed} believing`,
      // However slow the drain is on a busy machine, it has its turn.
      awaits: ({ uncopied }) => uncopied > 0,
    });
    const unbuffered = { seed: `${seed} unbuffered`, access: { ...stage.access, bufferCopies: 0 } };
    return { believing, unbuffered: await loseUnderLoad(stage, { losing: ['group-2'], ...unbuffered }) };
  },
  judge(real, { believing, unbuffered }) {
    const { aftermath } = real;
    const [copies, control] = [uncopied(real.losses), uncopied(believing.losses)];
    const { lost } = believing.aftermath;
    return {
      checks: [
        lossCheck('acknowledged cells lost, other faults', aftermath, unbuffered.aftermath, CELLS),
        {
          // Copies may go only when every reader that could be promoted shows the cell, including the lagging one.
          what: 'copies deleted before every reader showed the cell',
          result: shareResult(copies),
          bar: `0 of at least ${COPIES}`,
          passed: copies.wrong === 0 && copies.of >= COPIES,
          control: { result: `${shareResult(control)}, ${grouped(lost)} lost`, failed: control.wrong > 0 && lost > 0 },
        },
      ],
      notes: [
        `lost with the disks: at least ${grouped(copies.of)} cells; ${grouped(real.again)} acknowledged cells were appended again, behind the cuts; buffers empty ${aftermath.drainSeconds.toFixed(1)} s after the load`,
        `buffered writes: ${real.drained}`,
        ...Object.entries({ 'without a buffer': unbuffered, 'with the word of one reader': believing }).map(
          ([what, one]) =>
            `${what}: ${grouped(one.aftermath.lost)} of ${grouped(one.aftermath.acked)} lost; ${faultsLine(one.aftermath)}`,
        ),
      ],
    };
  },
});

interface LossRun extends Pick<DiskLossOptions, 'awaits'> {
  /** Groups, each once: a log is cut once. */
  readonly losing: readonly string[];
  /** The load continues until this many are acknowledged. @default it ends with the last loss */
  readonly cells?: number;
  readonly seed?: string;
  readonly access?: StoreAccess;
}

async function loseUnderLoad(
  stage: Stage,
  { losing, cells = 0, seed = stage.world.seed, access = stage.access, ...awaits }: LossRun,
): Promise<LostAftermath & { readonly losses: readonly DiskLoss[] }> {
  const random = new Random(seed, 'losses', 0);
  const load = await stage.load({ writers: WRITERS, cells: NEW_CELLS, seed, access });
  const losses: DiskLoss[] = [];
  for (const group of losing) losses.push(await loseDisk(stage, { group, random, lagMs: LAG_MS, ...awaits }));
  await load.untilAcked(cells);
  const { written } = await load.stop();
  return { losses, ...(await inspectLosses(stage, written, losses)) };
}

function uncopied(losses: readonly DiskLoss[]): Share {
  return { wrong: sumOf(losses.map((loss) => loss.uncopied)), of: sumOf(losses.map(({ ahead }) => ahead)) };
}
