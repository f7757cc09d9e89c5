import { countsLine, grouped, shareFigure, sumOf, type FaultRun, type RunWorld, type Share } from '../fault-run.ts';
import { Random } from '../../support/random.ts';
import type { StoreAccess } from '../../support/store-access.ts';
import { aftermathNotes, faultsLine, lossCheck } from '../aftermath.ts';
import { NEW_CELLS } from '../load/cell-source.ts';
import { Stage } from '../stage.ts';
import { inspectLosses, type LostAftermath } from './inspect-losses.ts';
import { loseDisk, type DiskLoss, type DiskLossOptions } from './lose-disk.ts';

const GROUPS = ['group-1', 'group-2', 'group-3'];
const CLUSTER = { groups: GROUPS.length, readers: 2, shards: 24, promotes: true };
const WRITERS = 12;
const CELLS = 5000;
/** Cells that only the lagging reader does not show: so many copies at least have to be there still. */
const COPIES = 200;
/** The drain looks at rows from 2 s on, about once a second. */
const LAG_MS = 6000;

export const lostDiskRun: FaultRun = {
  name: 'lost-disk',
  promise: 'An acknowledged write is never lost, also when its primary dies with its disk',
  fault: `${GROUPS.length} writers die with their disks under ${WRITERS} writers, each while one reader of its group is stopped and the other, which is promoted, lacks the last ${LAG_MS / 1000} s`,
  control: 'no buffer; a drain that takes the word of one reader',

  async run(world) {
    const real = await loseAll(world);
    world.say(`the control: ${lostDiskRun.control}`);
    const { believing, unbuffered } = await controls(world);
    const { aftermath } = real;
    return {
      checks: [
        lossCheck('acknowledged cells lost, other faults', aftermath, unbuffered.aftermath, CELLS),
        copiesCheck(uncopied(real.losses), believing),
      ],
      cells: aftermath.acked,
      engine: real.engine,
      notes: [
        `lost with the disks: at least ${grouped(uncopied(real.losses).of)} cells; ${grouped(real.again)} acknowledged cells were appended again, behind the cuts; buffers empty ${aftermath.drainSeconds.toFixed(1)} s after the load`,
        `buffered writes: ${real.drained}`,
        ...aftermathNotes(aftermath),
        ...Object.entries({ 'without a buffer': unbuffered, 'with the word of one reader': believing }).map(
          ([what, one]) =>
            `${what}: ${grouped(one.aftermath.lost)} of ${grouped(one.aftermath.acked)} lost; ${faultsLine(one.aftermath)}`,
        ),
      ],
    };
  },
};

async function loseAll(world: RunWorld) {
  await using stage = await Stage.start(world, 'lost-disk/real', CLUSTER);
  const drain = await stage.drain();
  const lost = await loseUnderLoad(stage, { losing: GROUPS, cells: CELLS });
  // Throws what it died of, if it did.
  return { ...lost, engine: stage.engine, drained: countsLine(drain.progress ?? {}) };
}

async function controls(world: RunWorld): Promise<Readonly<Record<'believing' | 'unbuffered', Lost>>> {
  await using stage = await Stage.start(world, 'lost-disk/control', CLUSTER);
  await stage.drain({ access: stage.through(new URL('drain-of-one-reader.ts', import.meta.url)) });
  const believing = await loseUnderLoad(stage, {
    losing: ['group-1'],
    seed: `${world.seed} believing`,
    // However slow the drain is on a busy machine: it has its turn.
    awaits: ({ uncopied }) => uncopied > 0,
  });
  const unbuffered = { seed: `${world.seed} unbuffered`, access: { ...stage.access, bufferCopies: 0 } };
  return { believing, unbuffered: await loseUnderLoad(stage, { losing: ['group-2'], ...unbuffered }) };
}

/** Copies may go only when every reader that could be promoted shows the cell: also the one that lags. */
function copiesCheck(real: Share, believing: Lost) {
  const control = uncopied(believing.losses);
  const { lost } = believing.aftermath;
  return {
    what: 'copies deleted before every reader showed the cell',
    figure: shareFigure(real),
    bar: `0 of at least ${COPIES}`,
    passed: real.wrong === 0 && real.of >= COPIES,
    control: { figure: `${shareFigure(control)}, ${grouped(lost)} lost`, failed: control.wrong > 0 && lost > 0 },
  };
}

interface Lost extends LostAftermath {
  readonly losses: readonly DiskLoss[];
}

interface LossRun {
  /** Groups, each once: a log is cut at one place. */
  readonly losing: readonly string[];
  /** The load goes on until so many are acknowledged. @default it ends with the last loss */
  readonly cells?: number;
  readonly seed?: string;
  readonly access?: StoreAccess;
  readonly awaits?: DiskLossOptions['awaits'];
}

async function loseUnderLoad(
  stage: Stage,
  { losing, cells = 0, seed = stage.world.seed, access = stage.access, awaits }: LossRun,
): Promise<Lost> {
  const random = new Random(seed, 'losses', 0);
  const load = await stage.load({ writers: WRITERS, cells: NEW_CELLS, seed, access });
  const losses: DiskLoss[] = [];
  for (const group of losing)
    losses.push(await loseDisk(stage, { group, random, lagMs: LAG_MS, ...(awaits && { awaits }) }));
  await load.untilAcked(cells);
  const { written } = await load.stop();
  return { losses, ...(await inspectLosses(stage, written, losses)) };
}

function uncopied(losses: readonly DiskLoss[]): Share {
  return { wrong: sumOf(losses.map((loss) => loss.uncopied)), of: sumOf(losses.map(({ ahead }) => ahead)) };
}
